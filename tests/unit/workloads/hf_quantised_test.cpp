// The types of weights in configuration files of quantised checkpoints, and the modules that they
// leave out.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/llm/hf_config.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim::hf_quantised_test {
namespace {

// Single quotes stand for double ones.
LlmConfig imported(const std::string& type, const std::string& more, const std::string& scheme) {
  std::string json = "{'model_type': '" + type +
                     "', 'hidden_size': 64, 'num_hidden_layers': 4, 'num_attention_heads': 4, "
                     "'num_key_value_heads': 2, 'head_dim': 16, 'intermediate_size': 128, "
                     "'vocab_size': 100, 'tie_word_embeddings': false" +
                     more + ", 'quantization_config': " + scheme + "}";
  std::ranges::replace(json, '\'', '"');
  const auto yaml = import_hf_config("a/config.json", json);
  EXPECT_TRUE(yaml) << yaml.error().front().message;
  Diagnostics diagnostics;
  auto model =
      read<LlmConfig>(load_text(*yaml, "model.yaml", {}, diagnostics), "model", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return model;
}
LlmConfig dense(const std::string& scheme) {
  return imported("qwen3", "", scheme);
}
LlmConfig experts(const std::string& scheme) {
  return imported("qwen3_moe",
                  ", 'num_experts': 8, 'num_experts_per_tok': 2, 'moe_intermediate_size': 32",
                  scheme);
}

void expect_types(const LlmConfig& model, std::optional<DataType> attention,
                  std::optional<DataType> mlp, std::optional<DataType> of_experts = {}) {
  ASSERT_TRUE(model.weights) << model.source;
  EXPECT_EQ(model.weights->type, DataType::bf16);
  EXPECT_EQ(model.weights->parts,
            (WeightTypes{.attention = attention, .mlp = mlp, .experts = of_experts}))
      << model.source;
}

std::string group(const std::string& weights, const std::string& ignore = "['lm_head']") {
  return "{'quant_method': 'compressed-tensors', 'format': 'pack-quantized', 'ignore': " + ignore +
         ", 'config_groups': {'group_0': {'targets': ['Linear'], 'input_activations': null, "
         "'weights': " +
         weights + "}}}";
}

TEST(HfQuantised, Fp8IsOfBlocksOrOfTensors) {
  constexpr DataType kBlock = DataType::fp8_block;
  const std::string blocks = "{'quant_method': 'fp8', 'weight_block_size': [128, 128]";
  expect_types(dense(blocks + "}"), kBlock, kBlock);
  expect_types(experts(blocks + "}"), kBlock, {}, kBlock);
  expect_types(dense("{'quant_method': 'fp8'}"), DataType::fp8, DataType::fp8);
  expect_types(dense(blocks + ", 'modules_to_not_convert': ['lm_head', 'self_attn']}"), {}, kBlock);
  EXPECT_TRUE(
      dense(blocks + "}")
          .source.ends_with(", published with weights quantised by fp8 in blocks of [128,128]"));
}

TEST(HfQuantised, Mxfp4IsOfExpertsAlone) {
  expect_types(experts("{'quant_method': 'mxfp4', 'modules_to_not_convert': "
                       "['model.layers.*.self_attn', 'model.layers.*.mlp.router', 'lm_head']}"),
               {}, {}, DataType::mxfp4);
}

TEST(HfQuantised, CompressedTensorsByWidthAndGroup) {
  const auto type = [](const std::string& weights) {
    const LlmConfig model = dense(group("{" + weights + "}"));
    return model.weights ? model.weights->parts.mlp : std::nullopt;
  };
  EXPECT_EQ(type("'num_bits': 4, 'type': 'int', 'strategy': 'group', 'group_size': 32"),
            DataType::int4_g32);
  EXPECT_EQ(type("'num_bits': 4, 'type': 'int', 'strategy': 'group', 'group_size': 128"),
            DataType::int4);
  EXPECT_EQ(type("'num_bits': 8, 'type': 'int', 'strategy': 'channel'"), DataType::int8);
  EXPECT_EQ(type("'num_bits': 8, 'type': 'float', 'strategy': 'channel'"), DataType::fp8);
  EXPECT_EQ(type("'num_bits': 8, 'type': 'float', 'strategy': 'block'"), DataType::fp8_block);
  EXPECT_EQ(type("'num_bits': 4, 'type': 'float', 'strategy': 'tensor_group', 'group_size': 16"),
            DataType::nvfp4);
  EXPECT_EQ(type("'num_bits': 2, 'type': 'int', 'strategy': 'group', 'group_size': 32"),
            std::nullopt);
}

// As in the file of Kimi-K2-Thinking.
TEST(HfQuantised, ExpressionsLeavePartsOut) {
  const std::string int4 = "{'num_bits': 4, 'type': 'int', 'strategy': 'group', 'group_size': 32}";
  expect_types(experts(group(int4,
                             "['lm_head', 're:.*self_attn.*', 're:.*shared_experts.*', "
                             "'re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*']")),
               {}, {}, DataType::int4_g32);
  expect_types(dense(group(int4, "['re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*']")),
               DataType::int4_g32, {});
}

TEST(HfQuantised, ModeloptByItsAlgorithm) {
  expect_types(experts("{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', 'ignore': ['lm_head', "
                       "'model.layers.*.mlp.gate', 'model.layers.*.self_attn*']}"),
               {}, {}, DataType::nvfp4);
  expect_types(dense("{'quant_method': 'modelopt', 'quant_algo': 'FP8', 'ignore': ['lm_head']}"),
               DataType::fp8, DataType::fp8);
}

TEST(HfQuantised, WholeNumbersByBitsAndGroup) {
  expect_types(dense("{'quant_method': 'gptq', 'bits': 4, 'group_size': 128, 'desc_act': true}"),
               DataType::int4, DataType::int4);
  expect_types(dense("{'quant_method': 'awq', 'bits': 4, 'group_size': 32, "
                     "'modules_to_not_convert': ['mlp']}"),
               DataType::int4_g32, {});
  expect_types(dense("{'quant_method': 'gptq', 'bits': 8, 'group_size': -1}"), DataType::int8,
               DataType::int8);
}

// The source says what cannot be told; the model then has no types.
TEST(HfQuantised, PartsThatAreLeftOutMayBeNamedWithinALayer) {
  const std::string awq =
      "{'quant_method': 'awq', 'bits': 4, 'group_size': 128, "
      "'modules_to_not_convert': ";
  expect_types(dense(awq + "['mlp.down_proj', 'mlp.gate_proj', 'mlp.up_proj']}"), DataType::int4,
               {});
  expect_types(dense(awq + "['mlp']}"), DataType::int4, {});
  expect_types(dense(awq + "['layers.99.mlp']}"), DataType::int4, DataType::int4);
}

TEST(HfQuantised, SettingsOfSingleModulesAndOtherBlocksCannotBeTold) {
  const LlmConfig dynamic =
      dense("{'quant_method': 'gptq', 'bits': 4, 'group_size': 128, 'dynamic': {'-:.*mlp.*': {}}}");
  EXPECT_FALSE(dynamic.weights);
  EXPECT_NE(dynamic.source.find("dynamic"), std::string::npos) << dynamic.source;
  expect_types(dense("{'quant_method': 'gptq', 'bits': 4, 'group_size': 128, 'dynamic': {}}"),
               DataType::int4, DataType::int4);
  const std::string blocks =
      "{'num_bits': 8, 'type': 'float', 'strategy': 'block', 'block_structure': ";
  expect_types(dense(group(blocks + "[128, 128]}")), DataType::fp8_block, DataType::fp8_block);
  EXPECT_FALSE(dense(group(blocks + "[64, 64]}")).weights);
}

TEST(HfQuantised, WhatCannotBeToldIsSaid) {
  const auto why = [](const LlmConfig& model) {
    EXPECT_FALSE(model.weights);
    const std::size_t at = model.source.find(", published");
    const std::size_t end = model.source.find(" cannot be told");
    return at == std::string::npos ? std::string() : model.source.substr(at, end - at);
  };
  EXPECT_EQ(why(dense("{'quant_method': 'fp8', 'weight_block_size': [32, 32]}")),
            ", published with weights quantised by fp8 in blocks of [32,32], of which blocks other "
            "than [128,128]");
  EXPECT_EQ(
      why(dense("{'quant_method': 'gptq', 'bits': 3, 'group_size': 128}")),
      ", published with weights quantised by gptq to 3 bits, of which 3 bits in groups of 128");
  EXPECT_EQ(why(dense("{'quant_method': 'modelopt', 'quant_algo': 'MIXED_PRECISION'}")),
            ", published with weights quantised by modelopt MIXED_PRECISION, of which another "
            "algorithm than NVFP4 or FP8");
  EXPECT_EQ(why(dense("{'quant_method': 'fp8', 'modules_to_not_convert': "
                      "['model.layers.0.self_attn', 'model.layers.3.self_attn']}")),
            ", published with weights quantised by fp8, of which the layers in which attention is "
            "left out");
  EXPECT_EQ(
      why(dense(group("{'num_bits': 8, 'type': 'int', 'strategy': 'channel'}", "['re:(a|b){2}']"))),
      ", published with weights quantised by compressed-tensors int8, of which the modules "
      "that 're:(a|b){2}' leaves out");
  EXPECT_EQ(
      why(dense("{'quant_method': 'compressed-tensors', 'config_groups': {}}")),
      ", published with weights quantised by compressed-tensors, of which more than one group "
      "of modules, or none");
  EXPECT_EQ(why(dense("{'quant_method': 'a\\u001bb" + std::string(200, 'x') + "'}")),
            ", published with weights quantised by a?b" + std::string(117, 'x') +
                "..., of which this scheme");
}

}  // namespace
}  // namespace tiersim::hf_quantised_test
