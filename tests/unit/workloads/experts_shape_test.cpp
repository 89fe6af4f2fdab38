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
                     .part = 2 * 32 * 16,
                     .parts = 3 * 32 * 16};
  EXPECT_EQ(ops[0].experts, shape);
  shape.part = 32 * 16;
  EXPECT_EQ(ops[1].experts, shape);
}

// Two GPUs with sequences of their own: half of the experts and of the rows, all tokens.
TEST(ExpertsShape, OfExpertsThatAreSpreadHasThoseOfTheGpu) {
  const auto ops = experts_of(dense_step(replica(
      small_experts(),
      {.tensor = 2, .attention = AttentionSharing::data, .experts = ExpertSharing::spread})));
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
