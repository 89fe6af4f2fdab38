// The configuration files of models with linear attention or an indexer, with the keys that have a
// meaning and some that have none.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/importers.hpp"
#include "workloads/llm/hf_config.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim::hf_hybrid_test {
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

Expected<std::string, std::vector<ImportProblem>> import(const std::string& json) {
  return import_hf_config("a/config.json", json);
}

std::string first_problem(const std::string& json) {
  const auto yaml = import(json);
  return yaml ? "" : yaml.error().front().message;
}

const fs::path kConfigs = fs::path(TIERSIM_SOURCE_DIR) / "tests/unit/workloads/hf_hybrid";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(HfHybrid, OfEveryShippedModelGivesTheSameModel) {
  std::size_t models = 0;
  for (const auto& entry : fs::directory_iterator(kModels)) {
    const std::string text = text_of(entry.path());
    const auto has = [&](const char* key) { return text.find(key) != std::string::npos; };
    if (has("\nbase:") || (!has("\nlinear:") && !has("\nindexer:"))) continue;
    ++models;
    const std::string name = entry.path().stem().string();
    const auto yaml = import(text_of(kConfigs / (name + ".json")));
    ASSERT_TRUE(yaml) << name << ": " << yaml.error().front().message;
    Diagnostics diagnostics;
    LlmConfig model = read_model(load_text(*yaml, "model.yaml", {}, diagnostics), diagnostics);
    const LlmConfig same = shipped(name);
    model.name = same.name;
    model.source = same.source;
    model.left_out = same.left_out;  // the file does not say how many weights these have
    // That of Qwen3-Next does not say that the checkpoint has a module, either.
    if (name == "qwen3_next_80b_a3b") model.mtp = same.mtp;
    EXPECT_EQ(canonical_json(model), canonical_json(same)) << name;
  }
  EXPECT_EQ(models, 20U);
}

// The published file of MiniMax-M3 names the type outside of its language model.
TEST(HfHybrid, ALanguageModelWithoutATypeHasThatOfTheWhole) {
  std::string inner = text_of(kConfigs / "minimax_m3.json");
  const std::string type = "\"model_type\": \"minimax_m3\",";
  inner.erase(inner.find(type), type.size());
  const auto yaml = import("{\"model_type\": \"minimax_m3_vl\", \"text_config\": " + inner + "}");
  ASSERT_TRUE(yaml) << yaml.error().front().message;
  Diagnostics diagnostics;
  const LlmConfig model = read_model(load_text(*yaml, "model.yaml", {}, diagnostics), diagnostics);
  EXPECT_EQ(model.parameters(), shipped("minimax_m3").parameters());
  EXPECT_TRUE(model.source.ends_with("the language model alone")) << model.source;
}

// Without names of the layers: one of each 4 after the first 3.
TEST(HfHybrid, SharedIndexersFollowTheirPeriod) {
  std::string text = text_of(kConfigs / "glm52.json");
  text.replace(text.find("\"indexer_types\""), 15, "\"indexer_names\"");
  const auto yaml = import(text);
  ASSERT_TRUE(yaml) << yaml.error().front().message;
  Diagnostics diagnostics;
  const LlmConfig model = read_model(load_text(*yaml, "model.yaml", {}, diagnostics), diagnostics);
  EXPECT_EQ(model.layer_types, shipped("glm52").layer_types);
}

// Each mistake is told by the name of its key.
TEST(HfHybrid, RefusesLayersThatAreNotModelled) {
  const auto changed = [](const std::string& model, const std::string& from,
                          const std::string& to) {
    std::string text = text_of(kConfigs / (model + ".json"));
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return first_problem(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(changed("qwen35_27b", "linear_attention", "ring_attention"),
            "'a/config.json': 'layer_types' has ring_attention, which is not modelled");
  EXPECT_EQ(changed("nemotron_h_8b", "\"M-M-", "\"M-X-"),
            "'a/config.json': 'hybrid_override_pattern' has 'X', which is not modelled");
  EXPECT_EQ(changed("nemotron_h_8b", "\"M-M-", "\"M-"),
            "'a/config.json': 'hybrid_override_pattern' has 50 entries for 52 layers");
  EXPECT_EQ(changed("kimi_linear_48b_a3b", "25, 26]", "25, 28]"),
            "'a/config.json': 'linear_attn_config' kda_layers has 28, and layers are 1 to 27");
  EXPECT_EQ(changed("deepseek_v32", "\"index_topk\"", "\"index_top_k\""),
            "'a/config.json': missing key 'index_topk'");
  EXPECT_EQ(changed("glm52", "\"shared\"", "\"borrowed\""),
            "'a/config.json': 'indexer_types' has borrowed, which is not modelled");
  EXPECT_EQ(changed("glm52", "\"shared\", ", ""),
            "'a/config.json': 'indexer_types' has 77 entries for 78 layers");
  EXPECT_EQ(changed("glm52", "\"sparse\"", "\"dense\""),
            "'a/config.json': 'mlp_layer_types' is not 'dense' for 3 layers, then 'sparse'");
  EXPECT_EQ(changed("glm52", "\"num_attention_heads\"",
                    "\"layer_types\": [\"full_attention\"], \"num_attention_heads\""),
            "'a/config.json': 'layer_types' has full_attention, which is not modelled");
  EXPECT_EQ(changed("glm52", "\"num_attention_heads\"",
                    "\"layer_types\": [\"deepseek_sparse_attention\"], \"num_experts\": 256, "
                    "\"num_attention_heads\""),
            "");
  EXPECT_EQ(changed("minimax_m3", "sparse_topk_blocks", "sparse_top_blocks"),
            "'a/config.json': 'sparse_attention_config' has no sparse_topk_blocks");
  EXPECT_EQ(
      changed("minimax_m3", "\"sparse_attention_freq\": [0, ", "\"sparse_attention_freq\": ["),
      "'a/config.json': 'sparse_attention_config' has 59 entries of sparse_attention_freq "
      "for 60 layers");
  EXPECT_EQ(changed("minimax_m3", "\"sparse_disable_index_value\": [0, 0, 0, 1",
                    "\"sparse_disable_index_value\": [0, 0, 0, 0"),
            "'a/config.json': 'sparse_attention_config' has values of the indexer in layer 3 "
            "(sparse_disable_index_value), which is not modelled");
  EXPECT_EQ(
      changed("minimax_m3", "\"use_sparse_attention\": true", "\"use_sparse\": true"),
      "'a/config.json': 'sparse_attention_config' has no use_sparse_attention: true, and full "
      "attention is not read");
  EXPECT_EQ(changed("minimax_m3", "\"moe_layer_freq\": [0, ", "\"moe_layer_freq\": [1, "),
            "'a/config.json': 'moe_layer_freq' has 0 after 1, which is not modelled");
  EXPECT_EQ(changed("minimax_m3", "\"moe_layer_freq\": [0, ", "\"moe_layer_freq\": ["),
            "'a/config.json': 'moe_layer_freq' has 59 entries for 60 layers");
}

}  // namespace
}  // namespace tiersim::hf_hybrid_test
