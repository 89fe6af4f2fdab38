// The bytes of the memory in a step of each scenario under configs/scenarios/models, by hand: those
// of weights, cache and states, from the models' dimensions alone.
#include <gtest/gtest.h>

#include "sim/runner/load.hpp"
#include "sim/runner/point_runner.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::model_scenarios_test {
namespace {

ReadWriteByClass traffic_of(const std::string& name) {
  PointRunner runner({.config_root = testing::configs(), .importers = make_all_importers()});
  Diagnostics diagnostics;
  const auto run = runner.run({testing::configs() / "scenarios/models" / (name + ".yaml"), {}},
                              Evaluation::accounting, diagnostics);
  EXPECT_TRUE(run.record) << diagnostics.text();
  return run.record ? run.record->traffic_by_class.at("hbm") : ReadWriteByClass{};
}

// 64 sequences; 8 KV heads of 64 in bf16; 18 layers read 8192 positions and 18 read 128. A token
// reaches 4 of 128 experts, 64 tokens 112 of them: 128 (1 - (124 / 128)^64) is 111.2. Experts have
// 4.25 bits a weight, all else 16.
TEST(ModelScenarios, GptOss) {
  const ReadWriteByClass bytes = traffic_of("gpt_oss_120b_h200");
  const std::int64_t row = 8 * 64 * 2;
  EXPECT_EQ(bytes.read.at("keys"), 64 * 18 * (8192 + 128) * row);
  EXPECT_EQ(bytes.read.at("values"), bytes.read.at("keys"));
  EXPECT_EQ(bytes.write.at("keys"), 64 * 36 * row);
  const std::int64_t attention = 2880 * (64 + 2 * 8) * 64 + 64 * 64 * 2880;
  const std::int64_t experts = 112LL * 3 * 2880 * 2880 * 17 / 32;
  EXPECT_EQ(bytes.read.at("weights"),
            36 * (2 * (attention + 2880 * 128) + experts) + 2LL * 201'088 * 2880 + 64 * 2880 * 2);
}

// 16 sequences. Each of 20 layers has a state of 32 x 128 x 128 in fp32 and 3 inputs of its
// convolution over 3 x 4096 channels in bf16; each of 7 has rows of 512 + 64. 16 tokens reach 102
// of 256 experts, 8 each: 256 (1 - (248 / 256)^16) is 101.9.
TEST(ModelScenarios, KimiLinear) {
  const ReadWriteByClass bytes = traffic_of("kimi_linear_h200");
  const std::int64_t state = 32 * 128 * 128 * 4 + 3 * 3 * 4096 * 2;
  EXPECT_EQ(bytes.read.at("states"), 16LL * 20 * state);
  EXPECT_EQ(bytes.write.at("states"), 16LL * 20 * state);
  EXPECT_EQ(bytes.read.at("keys"), 16LL * 7 * 131'072 * 576 * 2);
  EXPECT_EQ(bytes.write.at("keys"), 16 * 7 * 576 * 2);
  const std::int64_t delta = 2304 * (3 * 4096 + 32 + 2 * 128) + 2 * 128 * 4096 + 4096 * 2304 +
                             3 * 4096 * 4;  // and the convolution
  const std::int64_t latent = 2304 * (32 * 192 + 576) + 512 * 32 * (128 + 128) + 32 * 128 * 2304;
  const std::int64_t expert = 3 * 2304 * 1024;
  const std::int64_t vocabulary = 163'840LL * 2304 + 16 * 2304;
  EXPECT_EQ(bytes.read.at("weights"), 2 * (20 * delta + 7 * latent + 3 * 2304 * 9216 +
                                           26LL * (2304 * 256 + 103 * expert) + vocabulary));
}

// 32 sequences on 2 GPUs: each has 16 of 32 value heads, and 8 of 16 heads of keys.
TEST(ModelScenarios, Qwen3Next) {
  const ReadWriteByClass bytes = traffic_of("qwen3_next_h200");
  EXPECT_EQ(bytes.read.at("states"), 32LL * 36 * (16 * 128 * 128 * 4 + 3 * 4096 * 2));
  EXPECT_EQ(bytes.read.at("keys"), 32LL * 12 * 131'072 * 256 * 2);
}

// 64 sequences; 23 layers with a state of 64 x 64 x 128 and 6144 channels of the convolution; 6
// with 2 KV heads of 128.
TEST(ModelScenarios, Nemotron3Nano) {
  const ReadWriteByClass bytes = traffic_of("nemotron3_nano_h200");
  EXPECT_EQ(bytes.read.at("states"), 64LL * 23 * (64 * 64 * 128 * 4 + 3 * 6144 * 2));
  EXPECT_EQ(bytes.read.at("keys"), 64LL * 6 * 131'072 * 2 * 128 * 2);
}

// 8 sequences: each GPU scores 131072 index keys of 132 bytes in 61 layers, and reads 2048 latents
// of 656; weights are a GPU's eighth of the heads and of each expert, the whole indexer and the
// whole down projections. 8 tokens reach 58 of 256 experts: 256 (1 - (248 / 256)^8) is 57.4.
TEST(ModelScenarios, DeepSeekV32) {
  const ReadWriteByClass bytes = traffic_of("deepseek_v32_b200");
  EXPECT_EQ(bytes.read.at("index_keys"), 8LL * 61 * 131'072 * 132);
  EXPECT_EQ(bytes.write.at("index_keys"), 8 * 61 * 132);
  EXPECT_EQ(bytes.read.at("keys"), 8 * 61 * 2048 * 656);
  EXPECT_EQ(bytes.write.at("keys"), 8 * 61 * 656);
  const std::int64_t heads = 16;
  const std::int64_t attention =
      7168 * (1536 + 576) + 1536 * heads * 192 + 512 * heads * (128 + 128) + heads * 128 * 7168;
  const std::int64_t indexer = 64 * 128 * 1536 + 128 * 7168 + 64 * 7168;
  const std::int64_t expert = 3 * 7168 * 256;
  const std::int64_t vocabulary = 2 * (129'280LL / 8 * 7168 + 8 * 7168);  // in bf16
  EXPECT_EQ(bytes.read.at("weights"), 61 * (attention + indexer) + 3LL * 3 * 7168 * 2304 +
                                          58LL * (7168 * 256 + 59 * expert) + vocabulary);
}

// 8 sequences of 131072 positions: 30 layers have 32768 rows of 584 bytes, score an index key of
// 132 for each and read 1024; 31 have 1024 rows and read all; 61 read a ring of 128. A compressor
// keeps and reads inputs and gates in fp32: 2 * 2 * (512 + 128) and 2 * 512. Weights of attention
// and the shared expert have 8 bits, routed experts 4.25, all else 16; a GPU has 16 of 128 heads
// and 2 of 16 groups. 8 tokens reach 46 of 384 experts: 384 (1 - (378 / 384)^8) is 45.5.
TEST(ModelScenarios, DeepSeekV4Pro) {
  const ReadWriteByClass bytes = traffic_of("deepseek_v4_pro_b200");
  EXPECT_EQ(bytes.read.at("index_keys"), 8LL * 30 * 32'768 * 132);
  EXPECT_EQ(bytes.write.at("index_keys"), 8 * 30 * 132 / 4);
  EXPECT_EQ(bytes.read.at("keys"), 8 * 61 * 1024 * 584);
  EXPECT_EQ(bytes.write.at("keys"), 30 * (8 * 584 / 4) + 31 * ((8 * 584 + 127) / 128));
  const std::int64_t inputs = 8 * 4 * (30 * 4 * (512 + 128) + 31 * 2 * 512);
  EXPECT_EQ(bytes.read.at("states"), 8 * 61 * 128 * 584 + inputs);
  EXPECT_EQ(bytes.write.at("states"), 8 * 61 * 584 + inputs);
  const std::int64_t attention =
      61LL * (7168 * 1536 + 1536 * 16 * 512 + 7168 * 512 + 2 * 4096 * 1024 + 2 * 1024 * 7168) +
      7168 * (30 * 4 * 512 + 31 * 2 * 512) + 30LL * (7168 * (4 * 128 + 64) + 1536 * 64 * 128);
  const std::int64_t expert = 3 * 7168 * 384;
  const std::int64_t hyper = 61LL * 2 * 24 * 4 * 7168 + 4 * 4 * 7168;
  const std::int64_t vocabulary = 129'280LL / 8 * 7168 + 8 * 7168;
  EXPECT_EQ(bytes.read.at("weights"), attention + 61LL * (46LL * expert * 17 / 32 + expert) +
                                          2 * (61LL * 7168 * 384 + hyper + vocabulary));
}

// 4 of 32 sequences of 1048576 positions on each GPU: 21 layers have 262144 rows and read 512, 20
// have 8192 rows, and 43 a ring of 128.
TEST(ModelScenarios, DeepSeekV4Flash) {
  const ReadWriteByClass bytes = traffic_of("deepseek_v4_flash_h200");
  EXPECT_EQ(bytes.read.at("index_keys"), 4LL * 21 * 262'144 * 132);
  EXPECT_EQ(bytes.read.at("keys"), 4LL * (21 * 512 + 20 * 8192) * 584);
  EXPECT_EQ(bytes.read.at("states"),
            4 * (43 * 128 * 584 + 4 * (21 * 4 * (512 + 128) + 20 * 2 * 512)));
}

// The same with 21 indexers for 78 layers, and 8 of 64 heads on a GPU.
TEST(ModelScenarios, Glm52) {
  const ReadWriteByClass bytes = traffic_of("glm52_b200");
  EXPECT_EQ(bytes.read.at("index_keys"), 8LL * 21 * 131'072 * 132);
  EXPECT_EQ(bytes.write.at("index_keys"), 8 * 21 * 132);
  EXPECT_EQ(bytes.read.at("keys"), 8 * 78 * 2048 * 656);
  EXPECT_EQ(bytes.write.at("keys"), 8 * 78 * 656);
  const std::int64_t heads = 8;
  const std::int64_t attention =
      6144 * (2048 + 576) + 2048 * heads * 256 + 512 * heads * (192 + 256) + heads * 256 * 6144;
  const std::int64_t indexer = 32 * 128 * 2048 + 128 * 6144 + 32 * 6144;
  const std::int64_t expert = 3 * 6144 * 256;
  const std::int64_t vocabulary = 2 * (154'880LL / 8 * 6144 + 8 * 6144);  // in bf16
  EXPECT_EQ(bytes.read.at("weights"), 78 * attention + 21 * indexer + 3LL * 3 * 6144 * 1536 +
                                          75LL * (6144 * 256 + 59 * expert) + vocabulary);
}

// 8 sequences: each GPU has one of 4 KV heads of 128 and its index head. 57 layers score 131072
// index keys of 256 bytes and read 2048 positions, 3 read all of them; weights are a GPU's eighth
// of the heads and of each expert. 8 tokens reach 29 of 128 experts: 128 (1 - (124 / 128)^8)
// is 28.7.
TEST(ModelScenarios, MiniMaxM3) {
  const ReadWriteByClass bytes = traffic_of("minimax_m3_h200");
  EXPECT_EQ(bytes.read.at("index_keys"), 8LL * 57 * 131'072 * 256);
  EXPECT_EQ(bytes.write.at("index_keys"), 8 * 57 * 256);
  EXPECT_EQ(bytes.read.at("keys"), 8LL * (57 * 2048 + 3 * 131'072) * 256);
  EXPECT_EQ(bytes.read.at("values"), bytes.read.at("keys"));
  EXPECT_EQ(bytes.write.at("keys"), 8 * 60 * 256);
  const std::int64_t attention = 6144 * (8 + 2) * 128 + 8 * 128 * 6144;
  const std::int64_t indexer = 6144 * 2 * 128;
  const std::int64_t expert = 3 * 6144 * 384;
  const std::int64_t vocabulary = 2 * (200'064LL / 8 * 6144 + 8 * 6144);  // in bf16
  EXPECT_EQ(bytes.read.at("weights"), 60 * attention + 57 * indexer + 3LL * 3 * 6144 * 1536 +
                                          57LL * (6144 * 128 + 30 * expert) + vocabulary);
}

// The types that a model states are those of the step, over which the step's own keys lie one by
// one.
TEST(ModelScenarios, AStepHasTheTypesOfThePublishedWeights) {
  const auto step = [](const std::vector<std::string>& set) {
    return testing::scenario("scenarios/models/deepseek_v4_pro_b200.yaml", set).step;
  };
  const WeightTypes published{.attention = DataType::fp8_block,
                              .experts = DataType::mxfp4,
                              .shared_experts = DataType::fp8_block};
  EXPECT_EQ(step({}).weight_type, DataType::bf16);
  EXPECT_EQ(step({}).weight_types, published);
  WeightTypes nvfp4 = published;
  nvfp4.experts = DataType::nvfp4;
  EXPECT_EQ(step({"step.weight_types.experts=nvfp4"}).weight_types, nvfp4);
  EXPECT_EQ(step({"step.weight_type=fp8"}).weight_type, DataType::fp8);
  EXPECT_EQ(step({"step.weight_type=fp8"}).weight_types, published);
  EXPECT_EQ(step({"model.weights=~"}).weight_type, DataType::fp16);
  EXPECT_EQ(step({"model.weights=~"}).weight_types, WeightTypes{});
}

// The published configuration file gives the same step as the shipped model.
TEST(ModelScenarios, AnImportedFileGivesTheTypesOfItsWeights) {
  const std::string file =
      std::string(TIERSIM_SOURCE_DIR) + "/tests/unit/workloads/hf_hybrid/deepseek_v4_pro.json";
  const ScenarioConfig imported = testing::scenario("scenarios/models/deepseek_v4_pro_b200.yaml",
                                                    {"model={hf_config: " + file + "}"});
  const ScenarioConfig shipped = testing::scenario("scenarios/models/deepseek_v4_pro_b200.yaml");
  EXPECT_EQ(canonical_json(imported.step), canonical_json(shipped.step));
  EXPECT_EQ(imported.model.parameters(), shipped.model.parameters());
}

// What is written of a configuration has the types in full, so that a record runs again as it ran.
TEST(ModelScenarios, TheTextOfAConfigurationStatesTheTypes) {
  const ScenarioConfig config = testing::scenario("scenarios/models/deepseek_v4_pro_b200.yaml",
                                                  {"step.weight_types.experts=nvfp4"});
  Diagnostics diagnostics;
  const Document document = load_text(canonical_json(config), "a copy", {}, diagnostics);
  const auto copy = read<ScenarioConfig>(document, "scenario", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_EQ(copy.step.weight_types, config.step.weight_types);
  EXPECT_EQ(canonical_json(copy), canonical_json(config));
}

}  // namespace
}  // namespace tiersim::model_scenarios_test
