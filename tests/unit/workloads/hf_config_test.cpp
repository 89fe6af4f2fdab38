#include "workloads/llm/hf_config.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/importers.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim::hf_config_test {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(TIERSIM_SOURCE_DIR) / "configs/models";

LlmConfig read_model(const Document& document, Diagnostics& diagnostics) {
  auto model = read<LlmConfig>(document, "model", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return model;
}

LlmConfig shipped(const std::string& name) {
  Diagnostics diagnostics;
  return read_model(load_document(kModels / (name + ".yaml"), {}, diagnostics), diagnostics);
}

LlmConfig imported(const std::string& json, const fs::path& path = "checkpoint/config.json") {
  const auto yaml = import_hf_config(path, json);
  if (!yaml) {
    for (const ImportProblem& problem : yaml.error()) ADD_FAILURE() << problem.message;
    return {};
  }
  Diagnostics diagnostics;
  return read_model(load_text(*yaml, "model.yaml", {}, diagnostics), diagnostics);
}

std::string problems(const std::string& json) {
  const auto yaml = import_hf_config("a/config.json", json);
  std::string text;
  if (yaml) return text;
  for (const ImportProblem& problem : yaml.error())
    text += problem.message + (problem.hint.empty() ? "" : " (" + problem.hint + ")") + '\n';
  return text;
}

/// `keys` in single quotes, for legible tests.
std::string json(std::string keys) {
  std::ranges::replace(keys, '\'', '"');
  return '{' + keys + '}';
}

// "4,5,6".
std::string numbers(int first, int last) {
  std::string out = std::to_string(first);
  for (int i = first + 1; i <= last; ++i) out += ',' + std::to_string(i);
  return out;
}

std::string decoder(const std::string& type, const std::string& dimensions) {
  return json("'model_type': '" + type + "', " + dimensions);
}

std::string dimensions(int layers, int hidden, int heads, int kv_heads, int intermediate,
                       int vocabulary) {
  return "'num_hidden_layers': " + std::to_string(layers) +
         ", 'hidden_size': " + std::to_string(hidden) +
         ", 'num_attention_heads': " + std::to_string(heads) +
         ", 'num_key_value_heads': " + std::to_string(kv_heads) +
         ", 'intermediate_size': " + std::to_string(intermediate) +
         ", 'vocab_size': " + std::to_string(vocabulary);
}

const std::string kLatent =
    ", 'kv_lora_rank': 512, 'qk_nope_head_dim': 128, 'qk_rope_head_dim': 64, 'v_head_dim': 128"
    ", 'attention_bias': false, 'moe_layer_freq': 1, 'n_group': 8, 'topk_group': 4";

std::string experts(int routed, int each, int shared, int width, int dense,
                    const std::string& method) {
  return ", 'n_routed_experts': " + std::to_string(routed) +
         ", 'num_experts_per_tok': " + std::to_string(each) +
         ", 'n_shared_experts': " + std::to_string(shared) +
         ", 'moe_intermediate_size': " + std::to_string(width) +
         ", 'first_k_dense_replace': " + std::to_string(dense) + ", 'topk_method': '" + method +
         "'";
}

const std::string kT5 =
    ", 'vocab_size': 32128, 'd_kv': 64, 'feed_forward_proj': 'gated-gelu', 'n_positions': 512"
    ", 'relative_attention_num_buckets': 32, 'tie_word_embeddings': false, 'dropout_rate': 0.1";

std::string types(int layers, const std::vector<std::string>& period) {
  std::string text = ", 'layer_types': [";
  for (int layer = 0; layer < layers; ++layer)
    text +=
        (layer > 0 ? ", '" : "'") + period[static_cast<std::size_t>(layer) % period.size()] + "'";
  return text + ']';
}

/// A model that also sees: its language model below `text_config`.
std::string seeing(const std::string& type, const std::string& language_model) {
  return json("'model_type': '" + type + "', 'vision_config': {'hidden_size': 1152}" +
              ", 'text_config': " + language_model);
}

const std::string kCommon =
    ", 'hidden_act': 'silu', 'max_position_embeddings': 4096, 'rms_norm_eps': 1e-05"
    ", 'rope_scaling': null, 'rope_theta': 10000.0, 'torch_dtype': 'bfloat16', 'use_cache': true";

std::map<std::string, std::string> of_older_families() {
  const auto llama = [&](const std::string& size) {
    return decoder("llama", size + kCommon + ", 'attention_bias': false, 'mlp_bias': false");
  };
  const auto qwen3 = [&](const std::string& size) {
    return decoder("qwen3", size + kCommon +
                                ", 'head_dim': 128, 'attention_bias': false"
                                ", 'max_window_layers': 36, 'sliding_window': null"
                                ", 'use_sliding_window': false");
  };
  return {
      {"llama2_7b", llama(dimensions(32, 4096, 32, 32, 11008, 32000))},
      {"llama2_13b", llama(dimensions(40, 5120, 40, 40, 13824, 32000))},
      {"llama2_70b", llama(dimensions(80, 8192, 64, 8, 28672, 32000))},
      {"llama3_8b", llama(dimensions(32, 4096, 32, 8, 14336, 128256))},
      {"llama3_70b", llama(dimensions(80, 8192, 64, 8, 28672, 128256))},
      {"llama31_405b", llama(dimensions(126, 16384, 128, 8, 53248, 128256))},
      {"mistral_7b", decoder("mistral", dimensions(32, 4096, 32, 8, 14336, 32000) + kCommon +
                                            ", 'sliding_window': 4096")},
      {"mixtral_8x7b",
       decoder("mixtral", dimensions(32, 4096, 32, 8, 14336, 32000) + kCommon +
                              ", 'num_local_experts': 8, 'num_experts_per_tok': 2"
                              ", 'sliding_window': null, 'router_aux_loss_coef': 0.02")},
      {"qwen3_8b", qwen3(dimensions(36, 4096, 32, 8, 12288, 151936))},
      {"qwen3_14b", qwen3(dimensions(40, 5120, 40, 8, 17408, 151936))},
      {"qwen3_32b", qwen3(dimensions(64, 5120, 64, 8, 25600, 151936))},
      {"qwen3_235b_a22b",
       decoder("qwen3_moe", dimensions(94, 4096, 64, 4, 12288, 151936) + kCommon +
                                ", 'head_dim': 128, 'attention_bias': false"
                                ", 'num_experts': 128, 'num_experts_per_tok': 8"
                                ", 'moe_intermediate_size': 1536, 'decoder_sparse_step': 1"
                                ", 'mlp_only_layers': [], 'sliding_window': null"
                                ", 'use_sliding_window': false")},
      {"deepseek_v2_lite",
       decoder("deepseek_v2", dimensions(27, 2048, 16, 16, 10944, 102400) + kCommon + kLatent +
                                  ", 'q_lora_rank': null" + experts(64, 6, 2, 1408, 1, "greedy"))},
      {"deepseek_v2",
       decoder("deepseek_v2", dimensions(60, 5120, 128, 128, 12288, 102400) + kCommon + kLatent +
                                  ", 'q_lora_rank': 1536" +
                                  experts(160, 6, 2, 1536, 1, "group_limited_greedy"))},
      {"deepseek_v3",
       decoder("deepseek_v3", dimensions(61, 7168, 128, 128, 18432, 129280) + kCommon + kLatent +
                                  ", 'q_lora_rank': 1536, 'num_nextn_predict_layers': 1" +
                                  experts(256, 8, 1, 2048, 3, "noaux_tc"))},
      {"kimi_k2",
       decoder("kimi_k2", dimensions(61, 7168, 64, 64, 18432, 163840) + kCommon + kLatent +
                              ", 'q_lora_rank': 1536, 'num_nextn_predict_layers': 0" +
                              experts(384, 8, 1, 2048, 1, "noaux_tc"))},
      {"qwen3_30b_a3b",
       decoder("qwen3_moe", dimensions(48, 2048, 32, 4, 6144, 151936) + kCommon +
                                ", 'head_dim': 128, 'num_experts': 128, 'num_experts_per_tok': 8"
                                ", 'moe_intermediate_size': 768, 'decoder_sparse_step': 1"
                                ", 'mlp_only_layers': [], 'use_sliding_window': false")},
      {"t5_v1_1_small", json("'model_type': 't5', 'd_model': 512, 'd_ff': 1024, 'num_layers': 8"
                             ", 'num_decoder_layers': 8, 'num_heads': 6" +
                             kT5)},
      {"t5_v1_1_base", json("'model_type': 't5', 'd_model': 768, 'd_ff': 2048, 'num_layers': 12"
                            ", 'num_heads': 12" +
                            kT5)},
  };
}

std::string gpt_oss(int layers, int of) {
  return decoder("gpt_oss", dimensions(layers, 2880, 64, 8, 2880, 201088) + kCommon +
                                types(layers, {"sliding_attention", "full_attention"}) +
                                ", 'attention_bias': true, 'head_dim': 64, 'sliding_window': 128"
                                ", 'num_local_experts': " +
                                std::to_string(of) +
                                ", 'num_experts_per_tok': 4, 'experts_per_token': 4"
                                ", 'initial_context_length': 4096, 'swiglu_limit': 7.0");
}

std::string olmo3(const std::string& size, int layers) {
  return decoder("olmo3", size + kCommon + ", 'sliding_window': 4096, 'attention_bias': false" +
                              types(layers, {"sliding_attention", "sliding_attention",
                                             "sliding_attention", "full_attention"}));
}

std::string llama4(int of, int every) {
  return seeing("llama4", decoder("llama4_text",
                                  dimensions(48, 5120, 40, 8, 8192, 202048) + kCommon +
                                      ", 'intermediate_size_mlp': 16384, 'head_dim': 128"
                                      ", 'attention_chunk_size': 8192, 'use_qk_norm': true"
                                      ", 'no_rope_layers': [1, 1, 1, 0, 1, 1, 1, 0]"
                                      ", 'num_experts_per_tok': 1, 'num_local_experts': " +
                                      std::to_string(of) +
                                      ", 'interleave_moe_layer_step': " + std::to_string(every)));
}

std::string glm4(const std::string& norm, const std::string& size, int of, int width, int dense) {
  return decoder("glm4_moe", size + kCommon + experts(of, 8, 1, width, dense, "noaux_tc") +
                                 ", 'attention_bias': true, 'head_dim': 128"
                                 ", 'partial_rotary_factor': 0.5, 'n_group': 1"
                                 ", 'num_nextn_predict_layers': 1, 'use_qk_norm': " +
                                 norm);
}

std::map<std::string, std::string> of_newer_families() {
  return {
      {"gpt_oss_20b", gpt_oss(24, 32)},
      {"gpt_oss_120b", gpt_oss(36, 128)},
      {"gemma3_12b", seeing("gemma3", decoder("gemma3_text",
                                              dimensions(48, 3840, 16, 8, 15360, 262208) + kCommon +
                                                  ", 'head_dim': 256, 'sliding_window': 1024"
                                                  ", 'sliding_window_pattern': 6"
                                                  ", 'query_pre_attn_scalar': 256"))},
      {"gemma3_27b",
       seeing("gemma3",
              decoder("gemma3_text", dimensions(62, 5376, 32, 16, 21504, 262208) + kCommon +
                                         ", 'head_dim': 128, 'sliding_window': 1024"
                                         ", 'sliding_window_pattern': 6"
                                         ", 'query_pre_attn_scalar': 168"))},
      {"olmo3_7b", olmo3(dimensions(32, 4096, 32, 32, 11008, 100278), 32)},
      {"olmo3_32b", olmo3(dimensions(64, 5120, 40, 8, 27648, 100278), 64)},
      {"command_a", decoder("cohere2", dimensions(64, 12288, 96, 8, 36864, 256000) + kCommon +
                                           ", 'head_dim': 128, 'sliding_window': 4096"
                                           ", 'sliding_window_pattern': 4, 'logit_scale': 0.25"
                                           ", 'use_qk_norm': false")},
      {"llama4_scout", llama4(16, 1)},
      {"llama4_maverick", llama4(128, 2)},
      {"glm45", glm4("true", dimensions(92, 5120, 96, 8, 12288, 151552), 160, 1536, 3)},
      {"glm46", glm4("true", dimensions(92, 5120, 96, 8, 12288, 151552), 160, 1536, 3)},
      {"glm45_air", glm4("false", dimensions(46, 4096, 96, 8, 10944, 151552), 128, 1408, 1)},
      {"minimax_m25",
       decoder("minimax_m2", dimensions(62, 3072, 48, 8, 1536, 200064) + kCommon +
                                 ", 'head_dim': 128, 'num_local_experts': 256"
                                 ", 'num_experts_per_tok': 8, 'use_qk_norm': true"
                                 ", 'qk_norm_type': 'per_layer', 'use_routing_bias': true"
                                 ", 'shared_intermediate_size': 0, 'rotary_dim': 64"
                                 ", 'use_mtp': true, 'num_mtp_modules': 3"
                                 ", 'mtp_transformer_layers': 1")},
      {"step3",
       decoder("step3_text",
               "'num_hidden_layers': 61, 'hidden_size': 7168, 'num_attention_heads': 64"
               ", 'num_attention_groups': 1, 'intermediate_size': 18432, 'vocab_size': 128815" +
                   kCommon +
                   ", 'head_dim': 256, 'share_q_dim': 2048, 'moe_num_experts': 48, 'moe_top_k': 3"
                   ", 'moe_intermediate_size': 5120, 'share_expert_dim': 5120"
                   ", 'max_seq_len': 65536, 'norm_expert_weight': false"
                   ", 'moe_layers_enum': '" +
                   numbers(4, 59) + "'")},
      {"mistral_large_2411",
       decoder("mistral", dimensions(88, 12288, 96, 8, 28672, 32768) + kCommon +
                              ", 'head_dim': 128, 'sliding_window': null")},
      {"magistral_small_2506",
       decoder("mistral", dimensions(40, 5120, 32, 8, 32768, 131072) + kCommon +
                              ", 'head_dim': 128, 'sliding_window': null")},
      {"phi4", decoder("phi3", dimensions(40, 5120, 40, 10, 17920, 100352) + kCommon +
                                   ", 'sliding_window': null, 'attention_bias': false"
                                   ", 'original_max_position_embeddings': 16384")},
  };
}

/// The dimensions in the checkpoints' files, with some of the other keys.
std::map<std::string, std::string> published() {
  std::map<std::string, std::string> all = of_older_families();
  all.merge(of_newer_families());
  return all;
}

TEST(HfConfig, OfEveryShippedModelGivesTheSameModel) {
  for (const auto& [name, text] : published()) {
    LlmConfig model = imported(text);
    const LlmConfig same = shipped(name);
    model.name = same.name;
    model.source = same.source;
    model.left_out = same.left_out;  // the file does not say how many weights these have
    EXPECT_EQ(canonical_json(model), canonical_json(same)) << name;
    EXPECT_EQ(model, same) << name;
  }
  std::size_t models = 0;  // those that others are made of have no base; hf_hybrid_test.cpp
  for (const auto& entry : fs::directory_iterator(kModels)) {
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto has = [&](const char* key) { return text.find(key) != std::string::npos; };
    models += has("\nbase:") || has("\nlinear:") || has("\nindexer:") ? 0U : 1U;
  }
  EXPECT_EQ(published().size() + 1, models);  // Mistral Large 3 has a file of another form
}

TEST(HfConfig, NamesTheModelAfterItsCheckpointOrFolder) {
  const std::string size = dimensions(1, 64, 2, 2, 128, 100);
  EXPECT_EQ(imported(decoder("llama", size + ", '_name_or_path': 'meta/Llama-7b/'")).name,
            "Llama-7b");
  EXPECT_EQ(imported(decoder("llama", size), "x/My-Model/config.json").name, "My-Model");
  EXPECT_EQ(imported(decoder("llama", size), "x/tiny.json").name, "tiny");
  EXPECT_EQ(imported(decoder("llama", size), "config.json").name, "llama");
}

TEST(HfConfig, SaysWhatItIsFromAndWhatItLeavesOut) {
  EXPECT_EQ(imported(published().at("llama2_7b"), "x/My-Model/config.json").source,
            "Hugging Face configuration file My-Model/config.json, model_type llama");
  std::string text = published().at("deepseek_v3");
  text.insert(1, R"("quantization_config": {"quant_method": "fp8", "fmt": "e4m3"}, )");
  EXPECT_EQ(imported(text).source,
            "Hugging Face configuration file checkpoint/config.json, model_type deepseek_v3, "
            "without the weights of its multi-token-prediction modules, published with weights "
            "quantised by fp8");
}

// Weights of a scheme without a type would silently run as 16-bit ones.
TEST(HfConfig, SaysThatWeightsOfAnotherSchemeRunInTheTypeOfTheStep) {
  const std::string start =
      "Hugging Face configuration file checkpoint/config.json, model_type llama";
  const std::string runs =
      " cannot be told: it runs as step.weight_type and step.weight_types say, such as {attention: "
      "bf16, experts: nvfp4}";
  const auto source = [&](const std::string& more) {
    return imported(decoder("llama",
                            dimensions(1, 64, 2, 2, 128, 100) + ", 'quantization_config': " + more))
        .source;
  };
  EXPECT_EQ(
      source("{'quant_method': 'quip', 'bits': 2}"),
      start + ", published with weights quantised by quip to 2 bits, of which this scheme" + runs);
  EXPECT_EQ(source("{'load_in_4bit': true}"),
            start + ", published with weights quantised, of which this scheme" + runs);
  EXPECT_EQ(source("{}"), start);
  EXPECT_EQ(source("null"), start);
}

TEST(HfConfig, OfQwen2HasBiases) {
  const LlmConfig model =
      imported(decoder("qwen2", dimensions(28, 3584, 28, 4, 18944, 152064) +
                                    ", 'use_sliding_window': false, 'sliding_window': 131072"));
  EXPECT_TRUE(model.qkv_bias);
  EXPECT_EQ(model.parameters(), 7'615'616'512);  // Qwen2.5-7B, as published
}

// Qwen3-30B-A3B, as published.
TEST(HfConfig, OfQwen3WithExperts) {
  const LlmConfig model = imported(
      decoder("qwen3_moe", dimensions(48, 2048, 32, 4, 6144, 151936) +
                               ", 'head_dim': 128, 'num_experts': 128, 'num_experts_per_tok': 8"
                               ", 'moe_intermediate_size': 768, 'decoder_sparse_step': 1"
                               ", 'mlp_only_layers': [], 'norm_topk_prob': true"));
  EXPECT_EQ(model.parameters(), 30'532'122'624);
  EXPECT_EQ(model.moe->dense_layers, 0);
}

// T5 small, as published: no gate, tied embeddings, nothing said about either.
TEST(HfConfig, OfTheFirstT5HasNoGate) {
  const LlmConfig model =
      imported(json("'model_type': 't5', 'd_model': 512, 'd_ff': 2048, 'd_kv': 64, 'num_heads': 8"
                    ", 'num_layers': 6, 'vocab_size': 32128, 'relative_attention_num_buckets': 32"
                    ", 'output_past': true, 'task_specific_params': {'summarization': {}}"));
  EXPECT_EQ(model.parameters(), 60'506'624);
}

TEST(HfConfig, DerivesHeadDimAndKvHeads) {
  const LlmConfig model =
      imported(decoder("llama",
                       "'num_hidden_layers': 1, 'hidden_size': 64, 'num_attention_heads': 4"
                       ", 'intermediate_size': 128, 'vocab_size': 100, 'layer_types': "
                       "['full_attention'], 'tie_word_embeddings': true"));
  EXPECT_EQ(model.head_dim, 16);
  EXPECT_EQ(model.kv_heads, 4);
  EXPECT_TRUE(model.tied_embeddings);
}

TEST(HfConfig, ThatIsNoneIsOneProblem) {
  const std::string types =
      "supported: cohere2, deepseek_v2, deepseek_v3, deepseek_v32, deepseek_v4, gemma3_text, "
      "glm4_moe, "
      "glm_moe_dsa, gpt_oss, granitemoehybrid, kimi_k2, kimi_linear, llama, llama4_text, "
      "minimax_m2, minimax_m3, minimax_m3_vl, minimax_m3_vl_text, mistral, mixtral, nemotron_h, "
      "olmo3, phi3, "
      "qwen2, qwen3, qwen3_5_moe_text, "
      "qwen3_5_text, qwen3_moe, qwen3_next, step3_text, step3_vl, t5";
  const std::string yaml =
      "; for another, write its dimensions as in configs/models/qwen3_30b_a3b.yaml";
  EXPECT_EQ(problems("{\n  \"model_type\": llama"),
            "'a/config.json' is not JSON (first fault at line 2, column 17)\n");
  EXPECT_EQ(problems(""), "'a/config.json' is not JSON (first fault at line 1, column 1)\n");
  EXPECT_EQ(problems("[1]"), "'a/config.json' is not a JSON object\n");
  EXPECT_EQ(problems(R"({"vocab_size": 1e999})"),
            "'a/config.json' is not JSON (a number is too large)\n");
  EXPECT_EQ(problems("{}"), "'a/config.json': missing key 'model_type' (" + types + ")\n");
  EXPECT_EQ(problems(json("'model_type': 'mamba'")),
            "model_type 'mamba' is not supported (" + types + yaml + ")\n");
  EXPECT_EQ(problems(json("'model_type': 'qwen_3'")),
            "model_type 'qwen_3' is not supported (did you mean 'qwen3'? " + types + yaml + ")\n");
  EXPECT_EQ(problems(json("'model_type': 3")), "'a/config.json': 'model_type' is 3, not text\n");
}

TEST(HfConfig, TellsEveryMissingKeyAtOnce) {
  EXPECT_EQ(problems(json("'model_type': 'llama', 'hidden_size': '4096', 'vocab_size': 1.5, "
                          "'num_attention_heads': [[1]], 'intermediate_size': 3000000000")),
            "'a/config.json': missing key 'num_hidden_layers'\n"
            "'a/config.json': 'hidden_size' is \"4096\", not a whole number of at most "
            "1000000000\n"
            "'a/config.json': 'num_attention_heads' is a list, not a whole number of at most "
            "1000000000\n"
            "'a/config.json': 'intermediate_size' is 3000000000, not a whole number of at most "
            "1000000000\n"
            "'a/config.json': 'vocab_size' is 1.5, not a whole number of at most 1000000000\n");
}

TEST(HfConfig, RefusesWhatWouldChangeSizes) {
  const std::string size = dimensions(1, 64, 2, 2, 128, 100);
  const auto told = [&](const std::string& type, const std::string& more) {
    return problems(decoder(type, size + ", " + more));
  };
  EXPECT_EQ(told("llama", "'attention_bias': true, 'mlp_bias': true"),
            "'a/config.json': 'attention_bias' is true, which is not modelled\n"
            "'a/config.json': 'mlp_bias' is true, which is not modelled\n");
  EXPECT_EQ(told("llama", "'sliding_window': 4096"),
            "'a/config.json': 'sliding_window' is not understood (take it out of the file if it "
            "changes no size)\n");
  EXPECT_EQ(
      told("llama", "'num_memory_tokens': 16, 'use_qk_norm': true, 'vision_config': {'a': 1}"),
      "'a/config.json': 'num_memory_tokens' is not understood (take it out of the file if "
      "it changes no size)\n"
      "'a/config.json': 'use_qk_norm' is not understood (take it out of the file if it "
      "changes no size)\n"
      "'a/config.json': 'vision_config' is not understood (take it out of the file if it "
      "changes no size)\n");
  EXPECT_EQ(told("mistral", "'head_dim': 32"),
            "'a/config.json': 'sliding_window' is missing (write null where there is none)\n");
  EXPECT_EQ(told("qwen2", "'use_sliding_window': true, 'sliding_window': 4096"),
            "'a/config.json': 'use_sliding_window' is true, which is not modelled\n");
  EXPECT_EQ(told("gpt_oss",
                 "'sliding_window': 128, 'num_local_experts': 4, 'num_experts_per_tok': "
                 "2, 'layer_types': ['linear_attention']"),
            "'a/config.json': 'layer_types' has linear_attention, which is not modelled (modelled: "
            "full_attention, sliding_attention, chunked_attention)\n");
  EXPECT_EQ(told("olmo3", "'layer_types': ['sliding_attention']"),
            "'a/config.json': 'sliding_window' is missing, and some layers have a window\n");
  EXPECT_EQ(told("qwen3", "'head_dim': 32, 'layer_types': ['full_attention', 'sliding_attention']"),
            "'a/config.json': 'layer_types' is not all full_attention, which is not modelled\n");
  EXPECT_EQ(told("qwen3_moe",
                 "'head_dim': 32, 'num_experts': 8, 'num_experts_per_tok': 2"
                 ", 'moe_intermediate_size': 64, 'decoder_sparse_step': 2"
                 ", 'mlp_only_layers': [1]"),
            "'a/config.json': 'decoder_sparse_step' is not 1, which is not modelled\n"
            "'a/config.json': 'mlp_only_layers' is not 0, 1, 2, ..., which is not modelled\n");
  EXPECT_EQ(problems(json("'model_type': 'llama', 'num_hidden_layers': 1, 'hidden_size': 65"
                          ", 'num_attention_heads': 2, 'intermediate_size': 8, 'vocab_size': 9")),
            "'a/config.json': 'head_dim' is missing, and num_attention_heads does not divide "
            "hidden_size\n");
}

// The last of two would win, and 1 KV head for 2 halves the cache.
TEST(HfConfig, RefusesAKeyThatStandsTwice) {
  const std::string size = dimensions(1, 64, 2, 2, 128, 100);
  const auto told = [&](const std::string& more) {
    return problems(decoder("llama", size + ", " + more));
  };
  EXPECT_EQ(told("'num_key_value_heads': 1"),
            "'a/config.json': 'num_key_value_heads' stands twice in one mapping (take one of them "
            "out)\n");
  EXPECT_EQ(told("'a': {'b': 1, 'b': 1, 'b': 1}, 'hidden_size': 64"),
            "'a/config.json': 'b' stands twice in one mapping (take one of them out)\n"
            "'a/config.json': 'hidden_size' stands twice in one mapping (take one of them out)\n");
  EXPECT_EQ(told("'a': {'b': 1}, 'c': [{'b': 1}, {'b': 1}]"), "");
}

TEST(HfConfig, OfDeepSeekMustSayWhatIsNull) {
  EXPECT_EQ(problems(decoder("deepseek_v3", dimensions(1, 64, 2, 2, 128, 100) + kLatent)),
            "'a/config.json': 'q_lora_rank' is missing (write null where there is none)\n"
            "'a/config.json': 'n_routed_experts' is missing (write null where there is none)\n");
  const LlmConfig dense =
      imported(decoder("deepseek_v3", dimensions(1, 64, 2, 2, 128, 100) + kLatent +
                                          ", 'q_lora_rank': null, 'n_routed_experts': null"));
  EXPECT_FALSE(dense.moe);
}

TEST(HfConfig, IsOneOfTheImporters) {
  const auto importers = make_importers();
  EXPECT_NE(std::ranges::find(importers, "hf_config", &Importer::key), importers.end());
}

}  // namespace
}  // namespace tiersim::hf_config_test
