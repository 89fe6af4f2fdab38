// The parts of a model's weights, and of every GPU's shard, add up to all weights.
#include "workloads/llm/weight_parts.hpp"

#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim::weight_parts_test {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(TIERSIM_SOURCE_DIR) / "configs/models";

LlmConfig shipped(const fs::path& file) {
  Diagnostics diagnostics;
  const Document document = load_document(file, {}, diagnostics);
  auto model = read<LlmConfig>(document, "model", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return model;
}

std::int64_t sum(const WeightParts& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

std::int64_t part(const LlmConfig& model, WeightPart which) {
  return weight_parts(model)[static_cast<std::size_t>(which)];
}

const std::vector<ParallelConfig> kSharings{
    {},
    {.tensor = 2},
    {.tensor = 8},
    {.tensor = 2, .latent_slices = 2},
    {.tensor = 4, .latent_slices = 2},
    {.tensor = 4, .latent_slices = 2, .output_projection = OutputProjection::split},
    {.tensor = 4, .attention = AttentionSharing::data},
    {.tensor = 8, .attention = AttentionSharing::data, .attention_tensor = 2},
    {.tensor = 2, .experts = ExpertSharing::spread},
    {.tensor = 4, .attention = AttentionSharing::data, .experts = ExpertSharing::spread},
    {.pipeline = 2},
    {.tensor = 2, .pipeline = 7},
};

TEST(WeightParts, AreTogetherAllParametersOfEveryModelHoweverItIsShared) {
  int checked = 0;
  for (const auto& entry : fs::directory_iterator(kModels)) {
    const LlmConfig model = shipped(entry.path());
    for (const ParallelConfig& sharing : kSharings) {
      if (!shard_problems(model, sharing).empty()) continue;
      const LlmConfig own = shard_of(model, sharing);
      EXPECT_EQ(sum(weight_parts(own)), own.parameters())
          << model.name << ": tensor " << sharing.tensor << ", slices " << sharing.latent_slices
          << ", pipeline " << sharing.pipeline;
      ++checked;
    }
  }
  // Two encoders that are not shared, and for every other model tensor 2 and 8 and both pipelines.
  EXPECT_GE(checked, 2 + 17 * 5);
}

// T5 v1.1 small: 8 layers each way, 6 heads of 64 on a stream of 512, 32 buckets.
TEST(WeightParts, OfAnEncoderAreApart) {
  const LlmConfig m = shipped(kModels / "t5_v1_1_small.yaml");
  EXPECT_EQ(part(m, WeightPart::q), 8 * 512 * 384);
  EXPECT_EQ(part(m, WeightPart::kv), 8 * 512 * 2 * 384);
  EXPECT_EQ(part(m, WeightPart::cross_attention), 8 * 4 * 512 * 384);
  EXPECT_EQ(part(m, WeightPart::encoder), m.encoder_parameters());
  EXPECT_EQ(part(m, WeightPart::other), 8 * 3 * 512 + 32 * 6 + 512);
  EXPECT_EQ(part(m, WeightPart::kv_a), 0);
}

// The last stage of a pipeline has the head alone; a model with tied embeddings has it once.
TEST(WeightParts, CountAnEmbeddingThatIsTheHeadAsTheHead) {
  LlmConfig m = shipped(kModels / "llama3_8b.yaml");
  EXPECT_EQ(part(m, WeightPart::embedding), 128'256L * 4096);
  EXPECT_EQ(part(shard_of(m, {.pipeline = 2}), WeightPart::embedding), 0);
  EXPECT_EQ(part(shard_of(m, {.pipeline = 2}), WeightPart::head), 128'256L * 4096);
  m.tied_embeddings = true;
  EXPECT_EQ(part(m, WeightPart::embedding), 0);
  EXPECT_EQ(part(m, WeightPart::head), 128'256L * 4096);
}

}  // namespace
}  // namespace tiersim::weight_parts_test
