// Kernels of engines around experts and latents, by hand: 4 sequences, hidden 32, a second layer
// with 8 experts of 16, 2 a token, and 1 shared (parallel_models.hpp).
#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"

namespace tiersim::expert_kernels_test {
namespace {

using testing::dense_step;
using testing::replica;
using testing::small_experts;
using testing::small_latent;

AttentionContext of(const ExecutionConfig& execution, const ParallelConfig& parallel = {}) {
  AttentionContext c = replica(small_experts(), parallel);
  c.execution = execution;
  return c;
}

std::vector<Op> of_family(const StepGraph& graph, KernelFamily family, int layer) {
  std::vector<Op> out;
  for (const Op& op : graph.ops)
    if (op.layer == layer && op.family == family && op.kind == OpKind::compute) out.push_back(op);
  return out;
}

ExpertsShape shape_of(const AttentionContext& c) {
  return of_family(dense_step(c), KernelFamily::experts, 1).front().experts;
}

TEST(SharedExperts, RunBesideRoutedOnesUpToSoManyTokens) {
  EXPECT_FALSE(shape_of(of({})).shared_beside);
  EXPECT_FALSE(shape_of(of({.shared_experts = SharedExperts::after})).shared_beside);
  EXPECT_TRUE(shape_of(of({.shared_experts = SharedExperts::beside})).shared_beside);
  const auto up_to = [](std::int64_t tokens) {
    return of({.shared_experts = SharedExperts::beside, .beside_tokens = tokens});
  };
  EXPECT_TRUE(shape_of(up_to(4)).shared_beside);
  EXPECT_FALSE(shape_of(up_to(3)).shared_beside);
}

// The shared expert counts as one more expert, which each of the four tokens chooses.
TEST(SharedExperts, ThatAreFusedAreRoutedOnesOfEveryToken) {
  const ExpertsShape plain = shape_of(of({}));
  const ExpertsShape fused = shape_of(of({.shared_experts = SharedExperts::fused}));
  EXPECT_EQ(fused.top_k, plain.top_k + 1);
  EXPECT_EQ(fused.experts, plain.experts + 1);
  EXPECT_EQ(fused.held, plain.held + 1);
  EXPECT_EQ(fused.reached, plain.reached + 1);
  EXPECT_EQ(fused.routed, plain.routed + 4);
  EXPECT_EQ(fused.shared_width, 0);
  EXPECT_FALSE(fused.shared_beside);
  // The work is the same.
  const auto flops = [](const AttentionContext& c) {
    return testing::flops_of(dense_step(c), Phase::mlp);
  };
  EXPECT_EQ(flops(of({.shared_experts = SharedExperts::fused})), flops(of({})));
}

// Shared experts run beside the routed ones instead if each GPU holds only some of the experts, if
// the two kinds differ in width or type, or if the shared ones have a gate.
TEST(SharedExperts, AreFusedOnlyWithExpertsThatAreAlike) {
  const ExecutionConfig fused{.shared_experts = SharedExperts::fused};
  const auto beside = [](const AttentionContext& c) {
    const ExpertsShape shape = shape_of(c);
    return shape.shared_beside && shape.shared_width > 0 && shape.experts == 8;
  };
  EXPECT_TRUE(beside(of(fused, {.tensor = 2, .experts = ExpertSharing::spread})));
  AttentionContext other = of(fused);
  other.model.moe->shared_intermediate = 32;
  EXPECT_TRUE(beside(other));
  other = of(fused);
  other.step.weight_types.experts = DataType::fp8;
  other.step.weight_types.shared_experts = DataType::bf16;
  EXPECT_TRUE(beside(other));
  other = of(fused);
  other.model.moe->shared_gate = true;
  EXPECT_TRUE(beside(other));
}

// Two outputs of 32 numbers in bf16 are read and one is written, for each of 4 tokens.
TEST(SharedExperts, AreAddedToRoutedOnesByAKernel) {
  const auto kernels = [](const ExecutionConfig& execution) {
    return of_family(dense_step(of(execution)), KernelFamily::elementwise, 1).size();
  };
  const std::size_t none = kernels({});
  EXPECT_EQ(kernels({.expert_sum = SmallKernel::kernel}), none + 1);
  EXPECT_EQ(kernels({.expert_sum = SmallKernel::kernel, .shared_experts = SharedExperts::fused}),
            none);
  const auto ops =
      of_family(dense_step(of({.expert_sum = SmallKernel::kernel})), KernelFamily::elementwise, 1);
  std::int64_t bytes = 0;
  for (const Access& a : ops.back().accesses) bytes += a.payload.in_base();
  EXPECT_EQ(bytes, 4 * 3 * 32 * 2);
}

// The latent of queries has 16 numbers, that of keys and values 8 + 2, and both are computed from a
// hidden state of 32: two products of 16 and 10 columns, or one of 26. The products of heads stay
// batched products.
TEST(LatentProducts, AreOneKernelWithTheSameWeights) {
  const auto columns = [](std::optional<LatentProducts> run) {
    AttentionContext c = replica(small_latent(), {});
    c.execution.latent_products = run;
    std::vector<std::int64_t> out;
    for (const Op& op : of_family(dense_step(c), KernelFamily::gemm, 0))
      if (op.phase == Phase::projection && op.matrix.depth == 32) out.push_back(op.matrix.columns);
    return out;
  };
  EXPECT_EQ(columns({}), (std::vector<std::int64_t>{16, 10}));
  EXPECT_EQ(columns(LatentProducts::kernels), (std::vector<std::int64_t>{16, 10}));
  EXPECT_EQ(columns(LatentProducts::kernel), (std::vector<std::int64_t>{26}));
  AttentionContext c = replica(small_latent(), {});
  EXPECT_EQ(of_family(dense_step(c), KernelFamily::batched_gemm, 0).size(), 2U);
  const std::int64_t flops = testing::flops_of(dense_step(c), Phase::projection);
  c.execution.latent_products = LatentProducts::kernel;
  EXPECT_EQ(testing::flops_of(dense_step(c), Phase::projection), flops);
}

}  // namespace
}  // namespace tiersim::expert_kernels_test
