// Sizes of experts that an operation carries for kernels that were timed by them.
#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"

namespace tiersim::experts_shape_test {
namespace {

using testing::dense_step;
using testing::replica;
using testing::small_experts;

std::vector<Op> experts_of(const StepGraph& graph) {
  std::vector<Op> out;
  for (const Op& op : graph.ops)
    if (op.family == KernelFamily::experts) out.push_back(op);
  return out;
}

// 4 tokens of 2 experts reach 6 of 8: 8 * (3/4)^4 = 2.5 are unreached, rounded down.
TEST(ExpertsShape, IsOfTheLayerAndItsProductsAreParts) {
  const auto ops = experts_of(dense_step(replica(small_experts(), {})));
  ASSERT_EQ(ops.size(), 2U);
  ExpertsShape shape{.tokens = 4,
                     .hidden = 32,
                     .intermediate = 16,
                     .top_k = 2,
                     .experts = 8,
                     .held = 8,
                     .reached = 6,
                     .routed = 8,
                     .gated = true,
                     .weight_bits = 16,
                     .shared_tokens = 4,
                     .shared_width = 16,
                     .shared_hidden = 32,
                     .shared_bits = 16,
                     .part = 2 * 32 * 16,
                     .parts = 3 * 32 * 16};
  EXPECT_EQ(ops[0].experts, shape);
  shape.part = 32 * 16;
  EXPECT_EQ(ops[1].experts, shape);
}

// Two GPUs with sequences of their own: half of the experts and of the rows, all tokens.
TEST(ExpertsShape, OfExpertsThatAreSpreadHasThoseOfTheGpu) {
  auto config =
      replica(small_experts(),
              {.tensor = 2, .attention = AttentionSharing::data, .experts = ExpertSharing::spread});
  config.step.expert_load = ExpertLoadConfig{.law = ExpertLaw::even};
  const auto ops = experts_of(dense_step(config));
  ASSERT_EQ(ops.size(), 2U);
  const ExpertsShape& shape = ops[0].experts;
  EXPECT_EQ(shape.tokens, 4);
  EXPECT_EQ(shape.experts, 8);
  EXPECT_EQ(shape.held, 4);
  EXPECT_EQ(shape.reached, 3);
  EXPECT_EQ(shape.routed, 4);
  EXPECT_EQ(shape.intermediate, 16);
  EXPECT_EQ(shape.shared_tokens, 2);
  EXPECT_EQ(shape.shared_width, 16);
}

// By chance the GPU with most to do has more than its share of the 8 rows, as under zipf with an
// exponent of 0, and a GPU that has a part of every expert has exactly its share.
TEST(ExpertsShape, OfExpertsThatAreChosenByChanceIsThatOfTheBusiestGpu) {
  auto config =
      replica(small_experts(),
              {.tensor = 2, .attention = AttentionSharing::data, .experts = ExpertSharing::spread});
  const ExpertsShape busiest = experts_of(dense_step(config))[0].experts;
  // A token has 0, 1 or 2 of its experts on the first GPU in 6, 16 and 6 of 28 cases: of four
  // tokens the busier GPU has 5.06 rows in the mean.
  EXPECT_EQ(busiest.routed, 5);
  EXPECT_GE(busiest.reached, 3);  // all four in some layers
  config.step.expert_load = equally_popular();
  EXPECT_EQ(experts_of(dense_step(config))[0].experts, busiest);
  config.parallel = {.tensor = 2};
  config.step.expert_load.reset();
  EXPECT_EQ(experts_of(dense_step(config))[0].experts.routed, 8);
}

// Quantiles of a power law with exponent 1.2 between 0.01 and 2, scaled to 4 tokens of 2 experts,
// are 0.06, 0.09, 0.14, 0.24, 0.44, 0.89, 1.98 and 4: in whole rows 0, 0, 0, 0, 1, 1, 2 and 4.
TEST(ExpertsShape, OfSkewedExpertsHasFewerOnOneGpuAndTheMostRowsOfAGroup) {
  auto config = replica(small_experts(), {});
  config.step.expert_skew = 1.2;
  const ExpertsShape alone = experts_of(dense_step(config))[0].experts;
  EXPECT_EQ(alone.skew, 1.2);
  EXPECT_EQ(alone.reached, 4);  // six by chance
  EXPECT_EQ(alone.routed, 8);   // every token still has its two experts

  auto spread =
      replica(small_experts(),
              {.tensor = 2, .attention = AttentionSharing::data, .experts = ExpertSharing::spread});
  spread.step.expert_skew = 1.2;
  const ExpertsShape hottest = experts_of(dense_step(spread))[0].experts;
  // The favourite's GPU has it and three others: at least 4 rows, at most 4 + 2 + 1 + 1.
  EXPECT_GT(hottest.routed, 4);
  EXPECT_LE(hottest.routed, 8);
}

TEST(ExpertsShape, OfExpertsThatAreSplitHasAPartOfTheirWidth) {
  const auto ops = experts_of(dense_step(replica(small_experts(), {.tensor = 2})));
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].experts.held, 8);
  EXPECT_EQ(ops[0].experts.intermediate, 8);
  EXPECT_EQ(ops[0].experts.shared_width, 8);
  EXPECT_EQ(ops[0].experts.parts, 3 * 32 * 8);
}

TEST(ExpertsShape, OfOtherProductsIsNone) {
  for (const Op& op : dense_step(replica(small_experts(), {})).ops)
    EXPECT_EQ(op.experts.tokens > 0, op.family == KernelFamily::experts);
  EXPECT_TRUE(experts_of(dense_step(replica(testing::small_latent(), {}))).empty());
}

}  // namespace
}  // namespace tiersim::experts_shape_test
