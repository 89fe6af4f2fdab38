// Every shipped model against the published number of its weights, and every architecture's layer
// against its formula written out with numbers.
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/llm/draft.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim::model_zoo_test {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(TIERSIM_SOURCE_DIR) / "configs/models";

LlmConfig shipped(const std::string& name) {
  Diagnostics diagnostics;
  const Document document = load_document(kModels / (name + ".yaml"), {}, diagnostics);
  auto model = read<LlmConfig>(document, "model", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return model;
}

std::int64_t sum(const std::vector<Product>& products) {
  std::int64_t weights = 0;
  for (const Product& product : products) weights += product.weights;
  return weights;
}

// Totals of the published weight files (safetensors index, or the sum of the tensors on the model's
// page), with what a model leaves out. DeepSeek-V3 and Kimi-K2: without the multi-token-prediction
// module and the scales of the fp8 blocks, with the router's e_score_correction_bias. GLM: that
// module with its copies of embedding and head, which GLM-4.6 no longer has. gpt-oss: without the
// scales of its MXFP4 blocks.
const std::map<std::string, std::int64_t> kPublished{
    {"llama2_7b", 6'738'415'616},
    {"llama2_13b", 13'015'864'320},
    {"llama2_70b", 68'976'648'192},
    {"llama3_8b", 8'030'261'248},
    {"llama3_70b", 70'553'706'496},
    {"llama31_405b", 405'853'388'800},
    {"mistral_7b", 7'241'732'096},
    {"mixtral_8x7b", 46'702'792'704},
    {"qwen3_8b", 8'190'735'360},
    {"qwen3_14b", 14'768'307'200},
    {"qwen3_32b", 32'762'123'264},
    {"qwen3_235b_a22b", 235'093'634'560},
    {"deepseek_v2_lite", 15'706'484'224},
    {"deepseek_v2", 235'741'434'880},
    {"deepseek_v3", 671'026'419'200},
    {"kimi_k2", 1'026'408'232'448},
    {"t5_v1_1_small", 76'961'152},
    {"t5_v1_1_base", 247'577'856},
    {"gpt_oss_20b", 20'914'757'184},
    {"gpt_oss_120b", 116'829'156'672},
    {"gemma3_12b", 12'187'325'040},
    {"gemma3_27b", 27'432'406'640},
    {"olmo3_7b", 7'298'011'136},
    {"olmo3_32b", 32'233'522'176},
    {"llama4_scout", 108'641'793'536},
    {"llama4_maverick", 401'583'781'376},
    {"qwen3_30b_a3b", 30'532'122'624},
    {"glm45", 358'337'791'296},
    {"glm46", 356'785'898'816},
    {"glm45_air", 110'468'824'832},
    {"minimax_m25", 228'689'764'864},
    {"mistral_large_2411", 122'610'069'504},
    {"magistral_small_2506", 23'572'403'200},
    {"phi4", 14'659'507'200},
    {"kimi_k25", 1'026'879'376'368},
    {"qwen3_next_80b_a3b", 81'324'862'720},
    {"qwen35_397b_a17b", 403'397'928'944},
    {"qwen35_122b_a10b", 125'086'497'008},
    {"qwen35_35b_a3b", 35'951'822'704},
    {"qwen35_27b", 27'781'427'952},
    {"kimi_linear_48b_a3b", 49'122'681'728},
    {"kimi_k3", 2'779'931'837'184},
    {"granite4_h_small", 32'207'337'984},
    {"deepseek_v32", 685'355'329'792},
    {"glm5", 753'864'139'008},
    {"glm52", 753'329'940'480},
    // With the vision tower: 32 layers of 1280 and 5120, patches of 1176 elements, and a projector
    // of 1280 to 6144 twice and four of those to 6144 twice, with their biases.
    {"minimax_m3", 427'040'140'160},
    // Without the router's bias, which the total of the bf16 tensors leaves out: 23 layers of 128
    // experts; 40, and that of the prediction module, of 512.
    {"nemotron3_nano_30b_a3b", 31'577'937'344 + 23 * 128},
    {"nemotron3_super_120b_a12b", 123'611'012'096 + 41 * 512},
    // Elements of the GGUF files of DeepSeek-V4-Flash, which have the tables from tokens to experts
    // and no prediction module; parameters of DeepSeek-V4-Pro, the module included.
    {"deepseek_v4_flash", 284'334'567'511 + 6'610'048'891},
    {"deepseek_v4_pro", 1'598'839'674'782},
};

std::int64_t published(const LlmConfig& model) {
  std::int64_t total = model.parameters();
  for (const auto& [part, weights] : model.left_out) total += weights;
  return total;
}

TEST(ModelZoo, ParametersEqualThePublishedTotals) {
  for (const auto& [name, total] : kPublished) EXPECT_EQ(published(shipped(name)), total) << name;
}

// The published modules for multi-token prediction, which the totals have beside the model: those
// of GLM-4.5 and DeepSeek-V3.2 with copies of embedding and head.
TEST(ModelZoo, PredictionModulesHaveThePublishedWeights) {
  SpeculationConfig config;
  config.draft.kind = "mtp";
  for (const char* name :
       {"glm45", "glm45_air", "glm46", "glm5", "glm52", "deepseek_v32", "deepseek_v4_flash",
        "deepseek_v4_pro", "qwen3_next_80b_a3b", "qwen35_27b", "qwen35_35b_a3b", "qwen35_122b_a10b",
        "qwen35_397b_a17b", "nemotron3_super_120b_a12b", "nemotron3_ultra_550b_a55b"}) {
    const AttentionContext context{.model = shipped(name),
                                   .step = {.batch = 1, .context = 1},
                                   .placement = {TierId(0), TierId(0)},
                                   .speculation = &config};
    const LlmConfig& m = context.model;
    const bool copied = m.name.starts_with("glm-4.5") || m.name == "deepseek-v3.2";
    const std::int64_t copies = copied ? 2 * m.vocabulary * m.hidden : 0;
    EXPECT_EQ(draft_weights(context) + copies, m.left_out.at("mtp")) << name;
  }
}

// DeepSeek-V3's checkpoint has 684,489,845,504 weights without scales, of which the module has this
// many with copies of embedding and head of 129280 x 7168 each, which it shares when it runs.
TEST(ModelZoo, PredictionModuleOfDeepSeekV3IsThePublishedRest) {
  SpeculationConfig config;
  config.draft.kind = "mtp";
  const AttentionContext context{.model = shipped("deepseek_v3"),
                                 .step = {.batch = 1, .context = 1},
                                 .placement = {TierId(0), TierId(0)},
                                 .speculation = &config};
  EXPECT_EQ(draft_weights(context) + 2LL * 129'280 * 7168, 13'463'426'304);
  EXPECT_EQ(context.model.parameters() + 13'463'426'304, 684'489'845'504);
}

// DeepSeek-V4's module has a layer with a window alone, two products of the width for the embedding
// and the hidden state, three norms and hyper-connections of its own before the head.
TEST(ModelZoo, PredictionModuleOfDeepSeekV4IsASlidingLayer) {
  for (const char* name : {"deepseek_v4_flash", "deepseek_v4_pro"}) {
    const LlmConfig m = shipped(name);
    LlmConfig layer = m.layers_of(LayerType::sliding_attention);
    layer.layers = 1;
    layer.moe->hash_layers.reset();
    EXPECT_EQ(layer.layer_parameters(0) + 2 * m.hidden * m.hidden + 3 * m.hidden + m.hyper_head(),
              m.left_out.at("mtp"))
        << name;
  }
}

// 30 of 61 layers of DeepSeek-V4-Pro have a row of 512 for 4 positions, with an index key of 132 B,
// and 31 one for 128; of DeepSeek-V4-Flash 21 and 20 of 43.
TEST(ModelZoo, CompressedRowsOfAPosition) {
  const LlmConfig pro = shipped("deepseek_v4_pro");
  EXPECT_EQ(pro.cached_width(), 30 * 512 / 4 + 31 * 512 / 128);
  EXPECT_EQ(pro.index_keys().in_base(), 30 * 132 / 4);
  const LlmConfig flash = shipped("deepseek_v4_flash");
  EXPECT_EQ(flash.cached_width(), 21 * 512 / 4 + 20 * 512 / 128);
  EXPECT_EQ(flash.index_keys().in_base(), 21 * 132 / 4);
}

// At 1048576 positions DeepSeek-V4-Pro has 10 % of the cache of DeepSeek-V3.2 and DeepSeek-V4-Flash
// 7 % (arXiv 2606.19348, section 1), with index keys in FP4: 64 bytes and 4 of scales. Rows have
// 584 bytes, and those of V3.2 656 and an index key of 132.
TEST(ModelZoo, CacheOfAMillionPositionsIsThePublishedShare) {
  constexpr double kPositions = 1'048'576;
  const LlmConfig before = shipped("deepseek_v32");
  const double cache = static_cast<double>(before.layers) * kPositions * (656 + 132);
  for (const auto& [name, percent] :
       {std::pair("deepseek_v4_pro", 10.0), {"deepseek_v4_flash", 7}}) {
    LlmConfig m = shipped(name);
    EXPECT_EQ(m.indexer->key().in_base(), 132);
    m.indexer->key_type = DataType::mxfp4;
    EXPECT_EQ(m.indexer->key().in_base(), 68);
    double sum = 0;
    for (const LayerType type : m.types()) {
      const LlmConfig of_type = m.layers_of(type);
      if (!compresses(type)) continue;
      const double key =
          of_type.indexer ? static_cast<double>(of_type.indexer->key().in_base()) : 0.0;
      sum += static_cast<double>(of_type.layers) * kPositions /
             static_cast<double>(of_type.compression->positions) * (584 + key);
    }
    EXPECT_EQ(std::round(100 * sum / cache), percent) << name;
  }
}

// Published in billions, with half of the last printed digit.
const std::map<std::string, std::pair<double, double>> kRounded{
    {"command_a", {111.058e9, 0.0005e9}},
    {"mistral_large_3", {673e9, 0.5e9}},
    {"step3", {316e9, 0.5e9}}};

TEST(ModelZoo, ParametersAgreeWithRoundedTotals) {
  for (const auto& [name, total] : kRounded)
    EXPECT_NEAR(static_cast<double>(shipped(name).parameters()), total.first, total.second) << name;
}

// Derived from a published model, or from its dimensions: there are no published totals. Without
// experts: less 58 (60) layers of router, its bias, 256 (384) experts and a shared one of 3 x 7168
// x 2048, and the norm before them. GLA-2: each head unpacks 256 instead of 512. TransMLA: Llama-2
// 7B with queries of 32 x 192, a latent of 512 + 64 and its unpacking.
const std::map<std::string, std::int64_t> kMade{
    {"deepseek_v3_without_moe",
     671'026'419'200 - 58LL * (256 * 7168 + 256 + 257LL * 3 * 7168 * 2048 + 7168)},
    {"deepseek_v3_gla2", 671'026'419'200 -
                             58LL * (256 * 7168 + 256 + 257LL * 3 * 7168 * 2048 + 7168) -
                             61LL * 128 * 256 * 256},
    {"kimi_k2_without_moe",
     1'026'408'232'448 - 60LL * (384 * 7168 + 384 + 385LL * 3 * 7168 * 2048 + 7168)},
    {"llama2_7b_transmla", 6'738'415'616 - 32LL * 3 * 4096 * 4096 +
                               32LL * (4096 * 32 * 192 + 4096 * 576 + 512 * 32 * 256 + 512)},
    // No total is published. Mamba-2 layers of n heads of d: [2 n d + 2 * 8 * s + n, hidden] in,
    // [hidden, n d] out, n d + 2 * 8 * s channels of 4 taps and a bias, 3 n, and n d of a norm.
    {"nemotron_h_8b", 2LL * 131'072 * 4096 + 4096 + 52 * 4096 +
                          24LL * (4096 * (18'560 + 8192) + 10'240 * 5 + 3 * 128 + 8192) +
                          4LL * 4096 * (4096 * 2 + 2 * 1024) + 24LL * 2 * 4096 * 21'504},
    {"nemotron_h_47b", 2LL * 131'072 * 8192 + 8192 + 98 * 8192 +
                           45LL * (8192 * (37'120 + 16'384) + 20'480 * 5 + 3 * 256 + 16'384) +
                           5LL * 8192 * (8192 * 2 + 2 * 1024) + 48LL * 2 * 8192 * 30'720},
    {"nemotron_h_56b", 2LL * 131'072 * 8192 + 8192 + 118 * 8192 +
                           54LL * (8192 * (37'120 + 16'384) + 20'480 * 5 + 3 * 256 + 16'384) +
                           10LL * 8192 * (8192 * 2 + 2 * 1024) + 54LL * 2 * 8192 * 32'768},
    {"nemotron3_ultra_550b_a55b",
     2LL * 131'072 * 8192 + 8192 + 108 * 8192 +
         48LL * (8192 * (35'072 + 16'384) + 18'432 * 5 + 3 * 256 + 16'384) +
         12LL * 8192 * (8192 * 2 + 2 * 256) +
         48LL *
             (8192 * 512 + 512 + 2 * 8192 * 2048 + 512LL * 2 * 2048 * 5120 + 2LL * 8192 * 10'240)},
};

TEST(ModelZoo, MadeModelsAreTheirSumOfParts) {
  for (const auto& [name, total] : kMade) EXPECT_EQ(shipped(name).parameters(), total) << name;
}

TEST(ModelZoo, EveryShippedModelIsChecked) {
  for (const auto& entry : fs::directory_iterator(kModels))
    EXPECT_TRUE(kPublished.contains(entry.path().stem().string()) ||
                kMade.contains(entry.path().stem().string()) ||
                kRounded.contains(entry.path().stem().string()))
        << entry.path();
}

// The matrices of the products are those of the attention: what is left are norms and biases.
TEST(ModelZoo, ProductsHoldEveryMatrixWeightOfALayer) {
  for (const auto& [name, total] : kPublished) {
    const LlmConfig m = shipped(name);
    if (m.linear || m.indexer) continue;  // below
    std::int64_t matrices = sum(m.projections_in()) + sum(m.projections_out());
    std::int64_t vectors = m.layer_norms * m.hidden;
    if (m.encoder) {
      matrices += sum(m.cross_projections_in()) + m.cross_kv().weights;
      matrices += sum(m.cross_projections_out());
      vectors += m.hidden;
    }
    if (m.mla) vectors += m.mla->q_lora_rank + m.mla->kv_lora_rank;
    if (m.qk_norm)
      vectors += m.qk_norm_over == QkNormWidth::head ? 2 * m.head_dim
                                                     : (m.heads + m.kv_heads) * m.head_dim;
    if (m.qkv_bias) vectors += (m.heads + 2 * m.kv_heads) * m.head_dim;
    if (m.output_bias) vectors += m.hidden;
    if (m.attention_sinks) vectors += m.heads;
    const std::int64_t last = m.layers - 1;
    if (m.is_moe_layer(last)) {
      matrices += m.router_weights() + m.shared_weights() + m.moe->experts * m.expert_weights();
      vectors += m.moe->router_bias ? m.moe->experts : 0;
      if (m.moe->expert_bias)
        vectors += m.moe->experts * (2 * m.moe->expert_intermediate + m.hidden);
    } else {
      matrices += sum(m.mlp_products(m.intermediate));
    }
    EXPECT_EQ(m.layer_parameters(last), matrices + vectors) << name;
  }
}

TEST(ModelZoo, ALayerOfGroupedQueryAttention) {
  const LlmConfig m = shipped("llama3_8b");
  EXPECT_EQ(m.projections_in(),
            (std::vector<Product>{{4096, 6144, 6144, 4096L * (4096 + 1024 + 1024)}}));
  EXPECT_EQ(m.projections_out(), (std::vector<Product>{{4096, 4096, 4096, 4096L * 4096}}));
  EXPECT_EQ(m.mlp_products(14336), (std::vector<Product>{{4096, 28672, 14336, 4096L * 28672},
                                                         {14336, 4096, 4096, 14336L * 4096}}));
  EXPECT_EQ(m.layer_parameters(0), 4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336 + 2 * 4096);
  EXPECT_EQ(m.cached_width(), 2 * 32 * 8 * 128);
  EXPECT_FALSE(m.is_moe_layer(0));
}

TEST(ModelZoo, ALayerWithHeadNorms) {
  EXPECT_EQ(shipped("qwen3_8b").layer_parameters(0),
            4096 * (4096 + 1024 + 1024) + 4096 * 4096 + 2 * 128 + 3 * 4096 * 12288 + 2 * 4096);
}

TEST(ModelZoo, ALayerWithAWindow) {
  const LlmConfig m = shipped("mistral_7b");
  EXPECT_EQ(m.attended(4095), 4095);
  EXPECT_EQ(m.attended(32768), 4096);
  EXPECT_EQ(shipped("llama3_8b").attended(32768), 32768);
}

// gpt-oss: layers with a window of 128 and full ones in turn, in which 64 heads of 64 have a sink
// each; biases everywhere but in norms, embedding and head.
TEST(ModelZoo, LayersOfTwoTypes) {
  const LlmConfig m = shipped("gpt_oss_120b");
  EXPECT_TRUE(m.mixes_types());
  EXPECT_EQ(m.types(), (std::vector{LayerType::sliding_attention, LayerType::full_attention}));
  EXPECT_EQ(m.type_of(0), LayerType::sliding_attention);
  EXPECT_EQ(m.type_of(35), LayerType::full_attention);
  const LlmConfig windowed = m.layers_of(LayerType::sliding_attention);
  EXPECT_EQ(windowed.layers, 18);
  EXPECT_EQ(windowed.attended(127), 127);
  EXPECT_EQ(windowed.attended(5000), 128);
  EXPECT_EQ(windowed.attended_pairs(130), 128 * 129 / 2 + 2 * 128);
  const LlmConfig full = m.layers_of(LayerType::full_attention);
  EXPECT_EQ(full.layers, 18);
  EXPECT_EQ(full.attended(5000), 5000);
  EXPECT_EQ(full.attended_pairs(130), 130 * 131 / 2);
  EXPECT_EQ(m.layer_parameters(0), 2880 * (64 + 2 * 8) * 64 + (64 + 2 * 8) * 64 + 64 * 64 * 2880 +
                                       2880 + 64 + 2 * 2880 + 2880 * 128 + 128 +
                                       128L * (3 * 2880 * 2880 + 2 * 2880 + 2880));
}

// Llama 4: three layers attend within chunks of 8192 and the fourth to everything; in Maverick
// every other layer has experts.
TEST(ModelZoo, LayersInChunksAndExpertsInEveryOther) {
  const LlmConfig m = shipped("llama4_maverick");
  EXPECT_EQ(m.moe_layers(), 24);
  EXPECT_FALSE(m.is_moe_layer(0));
  EXPECT_TRUE(m.is_moe_layer(1));
  EXPECT_EQ(shipped("llama4_scout").moe_layers(), 48);
  const LlmConfig chunked = m.layers_of(LayerType::chunked_attention);
  EXPECT_EQ(chunked.layers, 36);
  EXPECT_EQ(chunked.attended(8192), 8192);
  EXPECT_EQ(chunked.attended(8193), 1);
  EXPECT_EQ(chunked.attended_pairs(8192 + 3), 8192L * 8193 / 2 + 6);
  EXPECT_EQ(m.layers_of(LayerType::full_attention).layers, 12);
}

// Qwen3-Next: 16 heads of queries and keys, 32 of values, 128 elements each.
TEST(ModelZoo, ALayerOfAGatedDeltaNet) {
  const LlmConfig m = shipped("qwen3_next_80b_a3b");
  EXPECT_EQ(m.linear_layers(), 36);
  EXPECT_EQ(m.attention_layers(), 12);
  EXPECT_EQ(m.type_of(2), LayerType::linear_attention);
  EXPECT_EQ(m.type_of(3), LayerType::full_attention);
  const LlmConfig linear = m.layers_of(LayerType::linear_attention);
  EXPECT_TRUE(linear.all_linear());
  EXPECT_EQ(linear.projections_in(), (std::vector<Product>{{2048, 12288, 12288, 2048L * 12288},
                                                           {2048, 64, 64, 2048L * 64}}));
  EXPECT_EQ(linear.projections_out(), (std::vector<Product>{{4096, 2048, 2048, 4096L * 2048}}));
  EXPECT_EQ(linear.linear->state_elements(), 32 * 128 * 128);
  EXPECT_EQ(linear.linear->conv_elements(), 3 * 8192);
  const std::int64_t experts = 2048L * 512 + 2048 + 513L * 3 * 2048 * 512;
  EXPECT_EQ(m.layer_parameters(0), 33'718'464 + 2 * 2048 + experts);
  EXPECT_EQ(m.layer_parameters(3), 27'263'488 + 2 * 2048 + experts);
  EXPECT_EQ(m.cached_width(), 12 * 2 * 2 * 256);
}

// Kimi Linear: 32 heads of 128; latent attention in every fourth layer and in the last.
TEST(ModelZoo, ALayerOfKimiDeltaAttention) {
  const LlmConfig m = shipped("kimi_linear_48b_a3b");
  EXPECT_EQ(m.linear_layers(), 20);
  EXPECT_EQ(m.linear->parameters(2304), 39'514'272);
  EXPECT_EQ(m.linear->state_elements(), 32 * 128 * 128);
  EXPECT_EQ(m.linear->conv_elements(), 3 * 3 * 4096);
  EXPECT_EQ(m.cached_width(), 7 * 576);
  // Of K3 with one matrix for the output gate, residuals and latent experts.
  const LlmConfig k3 = shipped("kimi_k3");
  EXPECT_EQ(k3.linear->parameters(7168), 443'740'384);
  EXPECT_EQ(k3.norms_of(5), 6);
  EXPECT_EQ(k3.expert_weights(), 3 * 3072 * 3584);
  EXPECT_EQ(k3.latent_weights(), 2 * 7168 * 3584);
}

// Nemotron-H: a layer is Mamba-2, or attention, or an MLP without a gate.
TEST(ModelZoo, LayersWithOneMixer) {
  const LlmConfig m = shipped("nemotron_h_8b");
  EXPECT_EQ(m.type_of(0), LayerType::linear_attention);
  EXPECT_FALSE(m.has_mlp(0));
  EXPECT_EQ(m.type_of(1), LayerType::no_attention);
  EXPECT_TRUE(m.has_mlp(1));
  EXPECT_EQ(m.layer_parameters(0), 109'640'064);
  EXPECT_EQ(m.layer_parameters(1), 2 * 4096 * 21'504 + 4096);
  EXPECT_EQ(m.type_of(7), LayerType::full_attention);
  EXPECT_EQ(m.layer_parameters(7), 41'947'136);
  EXPECT_EQ(m.linear->state_elements(), 128 * 64 * 128);
  EXPECT_EQ(shipped("nemotron3_super_120b_a12b").moe_layers(), 40);
}

// DeepSeek-V3.2: 64 index heads of 128, one index key.
TEST(ModelZoo, ALayerWithAnIndexer) {
  const LlmConfig with = shipped("deepseek_v32");
  const LlmConfig without = shipped("deepseek_v3");
  EXPECT_EQ(with.layer_parameters(0) - without.layer_parameters(0),
            64 * 128 * 1536 + 128 * 7168 + 64 * 7168 + 2 * 128);
}

TEST(ModelZoo, ALayerWithExperts) {
  const LlmConfig m = shipped("mixtral_8x7b");
  EXPECT_EQ(m.expert_weights(), 3 * 4096 * 14336);
  EXPECT_EQ(m.router_weights(), 4096 * 8);
  EXPECT_EQ(m.shared_weights(), 0);
  EXPECT_TRUE(m.is_moe_layer(0));
  EXPECT_EQ(m.layer_parameters(0),
            4096 * 6144 + 4096 * 4096 + 4096 * 8 + 8 * 3 * 4096 * 14336 + 2 * 4096);
}

// DeepSeek-V3: 128 heads of 128 + 64, latents of 1536 and 512.
TEST(ModelZoo, ALayerOfLatentAttention) {
  const LlmConfig m = shipped("deepseek_v3");
  const std::int64_t q_b = 1536L * 128 * 192;
  EXPECT_EQ(m.projections_in(),
            (std::vector<Product>{{7168, 1536, 1536, 7168L * 1536},
                                  {1536, 128L * 192, 128L * 192, q_b},
                                  {7168, 576, 576, 7168L * 576},
                                  {128L * 128, 128L * 512, 128L * 512, 128L * 128 * 512, true}}));
  EXPECT_EQ(m.projections_out(),
            (std::vector<Product>{{128L * 512, 128L * 128, 128L * 128, 128L * 512 * 128, true},
                                  {128L * 128, 7168, 7168, 128L * 128 * 7168}}));
  const std::int64_t kv_b = 512L * 128 * (128 + 128);  // as published: both unpackings in one
  const std::int64_t attention =
      7168 * 1536 + 1536 + q_b + 7168L * 576 + 512 + kv_b + 128L * 128 * 7168;
  EXPECT_EQ(m.layer_parameters(0), attention + 3L * 7168 * 18432 + 2L * 7168);
  EXPECT_EQ(m.layer_parameters(3),
            attention + 256L * 7168 + 256 + std::int64_t{257} * 3 * 7168 * 2048 + 2L * 7168);
  EXPECT_EQ(m.key_width(), 576);
  EXPECT_EQ(m.value_width(), 0);
  EXPECT_EQ(m.cached_heads(), 1);
  EXPECT_EQ(m.score_width(), 576);
  EXPECT_EQ(m.mix_width(), 512);
  EXPECT_EQ(m.cached_width(), 61 * 576);
}

TEST(ModelZoo, ALayerOfLatentAttentionWithoutAQueryLatent) {
  const LlmConfig m = shipped("deepseek_v2_lite");
  ASSERT_EQ(m.projections_in().size(), 3U);
  EXPECT_EQ(m.projections_in().front(), (Product{2048, 16L * 192, 16L * 192, 2048L * 16 * 192}));
  EXPECT_EQ(m.shared_weights(), 2 * 3 * 2048 * 1408);
  EXPECT_FALSE(m.is_moe_layer(0));
  EXPECT_TRUE(m.is_moe_layer(1));
}

// T5 v1.1 small: 6 heads of 64 on a stream of 512, so that queries are narrower than the stream.
TEST(ModelZoo, ALayerWithCrossAttention) {
  const LlmConfig m = shipped("t5_v1_1_small");
  const std::int64_t attention = 4L * 512 * 384;
  const std::int64_t mlp = 3L * 512 * 1024;
  EXPECT_EQ(m.cross_projections_in(), (std::vector<Product>{{512, 384, 384, 512L * 384}}));
  EXPECT_EQ(m.cross_projections_out(), (std::vector<Product>{{384, 512, 512, 384L * 512}}));
  EXPECT_EQ(m.cross_kv(), (Product{512, 768, 768, 512L * 768}));
  EXPECT_EQ(m.layer_parameters(0), 2 * attention + mlp + 3L * 512);
  EXPECT_EQ(m.encoder_parameters(), 8 * (attention + mlp + 2L * 512) + 32L * 6 + 512);
  EXPECT_EQ(m.parameters(),
            8 * m.layer_parameters(0) + 32L * 6 + 512 + m.encoder_parameters() + 2L * 32128 * 512);
}

// The largest that a file may say: its weights in bits must fit in 64.
TEST(LlmConfig, NoModelThatIsAcceptedOverflows) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "name: huge\nsource: none\nlayers: 1000\nhidden: 200000\nheads: 4096\nkv_heads: 4096\n"
      "head_dim: 4096\nintermediate: 1000000\nvocabulary: 10000000\nmoe: {experts: 4096, "
      "experts_per_token: 4096, shared_experts: 4096, expert_intermediate: 100000}\n",
      "huge.yaml", {}, diagnostics);
  const auto m = read<LlmConfig>(document, "model", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  const double weights = 1000.0 * (4.0 * 2e5 * 4096 * 4096 + 8192 * 3.0 * 2e5 * 1e5);
  EXPECT_NEAR(static_cast<double>(m.parameters()), weights, 1e-4 * weights);  // others are smaller
  EXPECT_LT(m.parameters(), std::numeric_limits<std::int64_t>::max() / 16);
}

TEST(LlmConfig, BiasesAndAPlainMlpAreCounted) {
  LlmConfig m = shipped("llama2_7b");
  const std::int64_t before = m.layer_parameters(0);
  m.qkv_bias = true;
  EXPECT_EQ(m.layer_parameters(0), before + 3L * 4096);
  m.gated_mlp = false;
  EXPECT_EQ(m.layer_parameters(0), before + 3L * 4096 - 4096L * 11008);
  EXPECT_EQ(m.mlp_products(11008).front(), (Product{4096, 11008, 11008, 4096L * 11008}));
}

}  // namespace
}  // namespace tiersim::model_zoo_test
