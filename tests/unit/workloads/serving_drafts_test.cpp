// Blocks of a speculative server, in iterations worked out by hand (scheduler_bench.hpp).
#include <gtest/gtest.h>

#include "tests/unit/workloads/scheduler_bench.hpp"

namespace tiersim::serving_drafts_test {
namespace {

using Bench = testing::SchedulerBench;

SpeculationConfig drafts(std::int64_t tokens, double rate) {
  SpeculationConfig config{.tokens = tokens};
  config.draft.kind = "ngram";
  config.acceptance.rate = Sourced<double>{.value = rate};
  return config;
}

BlockLimits limits(const SpeculationConfig& config, std::int64_t blocks = 100) {
  return {.blocks = blocks, .drafting = Drafting(config, 1)};
}

// A prompt of 4 positions has one block of 4. Its iteration needs positions 5 to 8, of which all
// count: a second block. The next one needs 9 to 12, and the answer ends after 9 tokens.
TEST(SchedulerWithDrafts, AdvancesByWhatIsAccepted) {
  Bench bench(SchedulerPolicy::chunked, limits(drafts(3, 1)));
  Sequence& s = bench.add(4, 9);
  EXPECT_EQ(bench.iterate(), "0+4 |");
  EXPECT_EQ(s.generated, 1);
  bench.plan();
  EXPECT_EQ(bench.now.drafts, 3);
  EXPECT_EQ(bench.scheduler().blocks_used(), 2);
  bench.scheduler().finish(bench.now);
  EXPECT_EQ(s.generated, 5);
  EXPECT_EQ(s.cached, 8);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(s.generated, 9);
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(SchedulerWithDrafts, GivesBackTheBlocksOfRejectedOnes) {
  Bench bench(SchedulerPolicy::chunked, limits(drafts(3, 0)));
  Sequence& s = bench.add(2, 9);
  bench.iterate();
  EXPECT_EQ(bench.scheduler().blocks_used(), 1);
  bench.plan();  // positions 3 to 6
  EXPECT_EQ(bench.scheduler().blocks_used(), 2);
  bench.scheduler().finish(bench.now);
  EXPECT_EQ(s.cached, 3);
  EXPECT_EQ(bench.scheduler().blocks_used(), 1);
}

// An answer of two tokens ends in the first iteration after its prompt, whatever is accepted.
TEST(SchedulerWithDrafts, EndsAnAnswerAtItsLength) {
  Bench bench(SchedulerPolicy::chunked, limits(drafts(5, 1)));
  Sequence& s = bench.add(4, 2);
  bench.iterate();
  bench.iterate();
  EXPECT_TRUE(s.is_done());
  EXPECT_EQ(s.generated, 2);
  EXPECT_EQ(s.cached, 5);
}

// Drafts count among the tokens of an iteration: two sequences with three drafts leave nothing of
// eight.
TEST(SchedulerWithDrafts, LeaveLessForPrompts) {
  Bench bench(SchedulerPolicy::chunked, limits(drafts(3, 0)));
  bench.add(2, 9);
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "0+2 1+2 |");
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "| 0 1");
}

TEST(SchedulerWithDrafts, DraftsByTheNumberThatDecode) {
  SpeculationConfig config = drafts(3, 0);
  config.tokens_by_batch = {{2, 1}, {3, 0}};
  Bench bench(SchedulerPolicy::chunked, limits(config), 20);
  for (const std::int64_t expected : {3, 1, 0}) {
    bench.add(1, 20);
    bench.iterate();  // its prompt
    bench.iterate();
    EXPECT_EQ(bench.now.drafts, expected);
  }
}

// The pool has 3 blocks: each sequence needs 2 while it drafts, so the younger one is preempted.
TEST(SchedulerWithDrafts, PreemptsWhereDraftsNeedTheBlocks) {
  Bench bench(SchedulerPolicy::chunked, limits(drafts(3, 0), 3), 20);
  bench.add(2, 4);
  Sequence& young = bench.add(2, 4);
  bench.iterate();
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(young.preemptions, 1);
  bench.run_dry();
  EXPECT_TRUE(young.is_done());
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

}  // namespace
}  // namespace tiersim::serving_drafts_test
