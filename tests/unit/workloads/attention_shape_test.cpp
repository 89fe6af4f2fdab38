// Sizes of attention that an operation carries for kernels that were timed by them.
#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/llm/device_step.hpp"

namespace tiersim::attention_shape_test {
namespace {

using testing::build;
using testing::small_step;

AttentionShape shape_of(const StepGraph& graph) {
  for (const Op& op : graph.ops)
    if (op.phase == Phase::attention) return op.attention;
  ADD_FAILURE() << "no attention";
  return {};
}
AttentionContext prefill(std::vector<PromptChunk> chunks = {}) {
  AttentionContext c = small_step();
  c.step.kind = StepKind::prefill;
  c.chunks = std::move(chunks);
  return c;
}

TEST(AttentionShape, OfDecodeIsOneTokenOverTheCache) {
  const AttentionShape shape = shape_of(build("{name: dense, kv_tier: near}"));
  EXPECT_EQ(shape, (AttentionShape{.sequences = 2,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .head_dim = 8,
                                   .tokens = 1,
                                   .before = 63,
                                   .window = 0,
                                   .kv_bits = 16}));
}

TEST(AttentionShape, KeepsTheContextBesideTheWindow) {
  AttentionContext c = small_step();
  c.model.attention_window = 16;
  const AttentionShape shape = shape_of(build("{name: dense, kv_tier: near}", c));
  EXPECT_EQ(shape.before, 63);
  EXPECT_EQ(shape.window, 16);
}

TEST(AttentionShape, OfGatheredRowsIsNone) {
  EXPECT_EQ(shape_of(build("{name: sparq, budget: 0.25, rank: 2}")).sequences, 0);
}

TEST(AttentionShape, OfPrefillHasNoPositionsBefore) {
  const AttentionShape shape = shape_of(build("{name: dense, kv_tier: near}", prefill()));
  EXPECT_EQ(shape.sequences, 2);
  EXPECT_EQ(shape.tokens, 64);
  EXPECT_EQ(shape.before, 0);
}

// 24 + 40 tokens after 8 and 24 positions, of 2 sequences each: in the mean 32 after 16.
TEST(AttentionShape, OfChunksIsTheirMean) {
  const AttentionShape shape =
      shape_of(build("{name: dense, kv_tier: near}", prefill({{24, 8}, {40, 24}})));
  EXPECT_EQ(shape.sequences, 4);
  EXPECT_EQ(shape.tokens, 32);
  EXPECT_EQ(shape.before, 16);
}

// All 128 heads read a latent of 512 + 64 as keys and values: one KV head of half its width. Two
// latents of 256 + 64 are two of 160.
TEST(AttentionShape, OfLatentsIsOneKvHeadOfHalfTheirWidth) {
  AttentionContext c = testing::replica(testing::deepseek_v3(), {});
  AttentionShape shape = shape_of(testing::dense_step(c));
  EXPECT_EQ(shape.heads, 128);
  EXPECT_EQ(shape.kv_heads, 1);
  EXPECT_EQ(shape.head_dim, 288);
  c.model.mla->latent_heads = 2;
  shape = shape_of(testing::dense_step(c));
  EXPECT_EQ(shape.kv_heads, 2);
  EXPECT_EQ(shape.head_dim, 160);
}

}  // namespace
}  // namespace tiersim::attention_shape_test
