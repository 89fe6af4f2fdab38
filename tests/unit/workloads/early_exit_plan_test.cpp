#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "workloads/early_exit/exit_plan.hpp"

namespace tiersim::early_exit_plan_test {
namespace {

EarlyExitConfig with(ExitTechnique technique, ExitRule rule, std::int64_t buckets = 0) {
  EarlyExitConfig config{.technique = technique, .rule = rule};
  if (buckets > 0) config.buckets = buckets;
  return config;
}

using Layers = std::vector<ExitLayer>;
using Counts = std::vector<std::int64_t>;

// 4 layers; sequences that exit after 1, 3 and 1.
const Counts kDepths{1, 3, 1};

TEST(ExitPlan, AllRowsRunToTheDeepestAndAreMeasuredThroughout) {
  const ExitPlan plan = plan_exits(with(ExitTechnique::state, ExitRule::all_rows), 4, kDepths);
  EXPECT_EQ(plan.layers, (Layers{{0, 3, 3, 0}, {1, 3, 3, 0}, {2, 3, 3, 0}}));
  EXPECT_EQ(plan.filled_at_end, (Counts{0, 0, 0, 3}));
  EXPECT_EQ(plan.depth, 3);
  EXPECT_EQ(plan.decisions, 3);
  EXPECT_EQ(plan.head_batches, 1);
  EXPECT_EQ(fill_at_end(plan), (FillWork{.layers = 1, .rows = 3, .pairs = 3}));
}

TEST(ExitPlan, SequencesThatLeaveAloneAreFilledAtTheEnd) {
  const ExitPlan plan =
      plan_exits(with(ExitTechnique::softmax, ExitRule::per_sequence), 4, kDepths);
  EXPECT_EQ(plan.layers, (Layers{{0, 3, 3, 0}, {1, 1, 1, 0}, {2, 1, 1, 0}}));
  EXPECT_EQ(plan.filled_at_end, (Counts{0, 2, 2, 3}));
  EXPECT_EQ(plan.head_batches, 0);  // each has its token from its exit layer
  EXPECT_EQ(fill_at_end(plan), (FillWork{.layers = 3, .rows = 3, .pairs = 7}));
}

TEST(ExitPlan, ParallelFillGoesWithTheLayersOfOthers) {
  const ExitPlan plan = plan_exits(with(ExitTechnique::state, ExitRule::parallel_fill), 4, kDepths);
  EXPECT_EQ(plan.layers, (Layers{{0, 3, 3, 0}, {1, 1, 1, 2}, {2, 1, 1, 2}}));
  EXPECT_EQ(plan.filled_at_end, (Counts{0, 0, 0, 3}));
}

TEST(ExitPlan, BucketsAreBatchesOfLikeDepth) {
  const ExitPlan plan =
      plan_exits(with(ExitTechnique::state, ExitRule::bucketed, 2), 4, Counts{1, 3, 1, 2, 4});
  // The two of five that exit first, then three.
  EXPECT_EQ(plan.layers,
            (Layers{{0, 2, 2, 0}, {0, 3, 3, 0}, {1, 3, 3, 0}, {2, 3, 3, 0}, {3, 3, 3, 0}}));
  EXPECT_EQ(plan.filled_at_end, (Counts{0, 2, 2, 2}));
  EXPECT_EQ(plan.depth, 4);
  EXPECT_EQ(plan.decisions, 5);
}

TEST(ExitPlan, MoreBucketsThanSequencesAreNotRun) {
  const ExitPlan plan =
      plan_exits(with(ExitTechnique::state, ExitRule::bucketed, 8), 4, Counts{2, 1});
  EXPECT_EQ(plan.layers, (Layers{{0, 1, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0}}));
}

TEST(ExitPlan, FixedTechniquesDecideNothing) {
  const ExitPlan half =
      plan_exits(with(ExitTechnique::static_half, ExitRule::all_rows), 5, Counts{5, 5});
  EXPECT_EQ(half.layers, (Layers{{0, 2, 0, 0}, {1, 2, 0, 0}, {2, 2, 0, 0}}));
  EXPECT_EQ(half.filled_at_end, (Counts{0, 0, 0, 2, 2}));
  EXPECT_EQ(half.decisions, 0);
  const ExitPlan full = plan_exits(with(ExitTechnique::full, ExitRule::all_rows), 5, Counts{1, 1});
  EXPECT_EQ(full.depth, 5);
  EXPECT_EQ(fill_at_end(full), FillWork{});
}

// Every sequence has each layer once: run, filled beside a layer, or at the end.
TEST(ExitPlan, GivesEverySequenceEachLayerOnce) {
  Rng rng(1, "exit plans");
  for (int i = 0; i < 2000; ++i) {
    const auto layers = static_cast<std::int64_t>(1 + rng.below(12));
    Counts depths(1 + rng.below(20));
    for (std::int64_t& depth : depths)
      depth = static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(layers)));
    const auto all = static_cast<std::int64_t>(depths.size());
    const auto rule = static_cast<ExitRule>(rng.below(4));
    const auto buckets =
        static_cast<std::int64_t>(rule == ExitRule::bucketed ? 1 + rng.below(5) : 0);
    const ExitPlan plan =
        plan_exits(with(ExitTechnique::classifier, rule, buckets), layers, depths);
    Counts had = plan.filled_at_end;
    std::int64_t ran = 0;
    for (const ExitLayer& at : plan.layers) {
      had[static_cast<std::size_t>(at.layer)] += at.rows + at.filled;
      ran += at.rows;
      ASSERT_EQ(at.measured, at.rows);
      ASSERT_GT(at.rows, 0);
    }
    ASSERT_EQ(had, Counts(static_cast<std::size_t>(layers), all));
    ASSERT_EQ(plan.depth, *std::ranges::max_element(depths));
    // No sequence runs less than it would alone, and no rule runs more than Algorithm 1.
    ASSERT_GE(ran, std::accumulate(depths.begin(), depths.end(), std::int64_t{0}));
    ASSERT_LE(ran, all * plan.depth);
    ASSERT_EQ(plan.decisions, static_cast<std::int64_t>(plan.layers.size()));
    // The order of the sequences changes nothing.
    std::ranges::reverse(depths);
    const ExitPlan same =
        plan_exits(with(ExitTechnique::classifier, rule, buckets), layers, depths);
    ASSERT_EQ(same.layers, plan.layers);
    if (rule != ExitRule::per_sequence && rule != ExitRule::parallel_fill) continue;
    ASSERT_EQ(ran, std::accumulate(depths.begin(), depths.end(), std::int64_t{0}));
    ASSERT_TRUE(std::ranges::is_sorted(plan.layers, std::ranges::greater{}, &ExitLayer::rows));
  }
}

}  // namespace
}  // namespace tiersim::early_exit_plan_test
