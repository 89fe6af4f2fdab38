// Iterations worked out by hand (scheduler_bench.hpp).
#include "tests/unit/workloads/scheduler_bench.hpp"

#include <gtest/gtest.h>

namespace tiersim::serving_scheduler_test {
namespace {

using Bench = testing::SchedulerBench;

TEST(Scheduler, ReadsPromptsInPiecesBesideWhatDecodes) {
  Bench bench(SchedulerPolicy::chunked);
  bench.add(10, 3);
  bench.add(3, 2);
  bench.add(6, 1);
  EXPECT_EQ(bench.iterate(), "0+8 |");
  EXPECT_EQ(bench.iterate(), "0+2 1+3 2+3 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3 + 1 + 2);  // of whole prompts
  EXPECT_EQ(bench.iterate(), "2+3 | 0 1");
  EXPECT_EQ(bench.scheduler().running(), 1);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "|");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(Scheduler, ReadsWholePromptsBesideWhatDecodes) {
  Bench bench(SchedulerPolicy::mixed);
  bench.add(5, 3);
  bench.add(5, 2);
  EXPECT_EQ(bench.iterate(), "0+5 |");  // the second has no room beside the first
  EXPECT_EQ(bench.iterate(), "1+5 | 0");
  bench.add(8, 1);
  EXPECT_EQ(bench.iterate(), "| 0 1");  // answers leave 6 tokens
  EXPECT_EQ(bench.iterate(), "2+8 |");
}

// One runs at a time: the lowest number first, and of equal ones the first that came.
TEST(Scheduler, TakesTheLowestPriorityNumberFirst) {
  Bench bench(SchedulerPolicy::chunked);
  bench.config.scheduler.order = QueueOrder::priority;
  bench.config.scheduler.max_sequences = 1;
  for (const std::int64_t priority : {5, 0, 5, -1, 0}) bench.add(1, 1, {}, priority);
  for (const char* next : {"3+1 |", "1+1 |", "4+1 |", "0+1 |", "2+1 |", "|"})
    EXPECT_EQ(bench.iterate(), next);
}

// Four blocks of 4 positions: 0 has two, 1 and 2 one each when 0 needs a third for its position 9.
// The last that was admitted gives up its own, or that of the highest number.
TEST(Scheduler, PreemptsTheHighestPriorityNumberFirst) {
  const auto preemptions = [](QueueOrder order) {
    Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 64);
    bench.config.scheduler.order = order;
    bench.add(4, 20, {}, 1);
    bench.iterate();
    const Sequence& highest = bench.add(1, 20, {}, 7);
    bench.iterate();
    const Sequence& last = bench.add(1, 20, {}, 2);
    for (int i = 0; i < 3; ++i) bench.iterate();
    EXPECT_EQ(highest.preemptions + last.preemptions, 0);
    bench.iterate();
    return std::pair(highest.preemptions, last.preemptions);
  };
  EXPECT_EQ(preemptions(QueueOrder::fcfs).second, 1);
  EXPECT_EQ(preemptions(QueueOrder::priority), std::pair(std::int64_t{1}, std::int64_t{0}));
}

TEST(Scheduler, LetsPromptsWaitForMoreOfThem) {
  Bench bench(SchedulerPolicy::mixed);
  bench.config.scheduler.prompt_wait = 2;
  bench.config.scheduler.prompt_wait_share = 0.75;  // 6 of 8 tokens
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "0+2 |");  // nothing decodes: no reason to wait
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+2 | 0");  // two iterations are enough
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "| 0 1");
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "2+2 3+2 | 0 1");  // 4 tokens and 2 of answers
}

TEST(Scheduler, GivesPromptsWhatTheTokensOfAnswersLeave) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 100}, 4);
  bench.add(1, 9);
  bench.add(1, 9);
  bench.add(1, 9);
  EXPECT_EQ(bench.iterate(), "0+1 1+1 2+1 |");
  bench.add(9, 1);
  EXPECT_EQ(bench.iterate(), "3+1 | 0 1 2");
  EXPECT_EQ(bench.iterate(), "3+1 | 0 1 2");
}

// Otherwise pieces of it would be read and dropped again.
TEST(Scheduler, BeginsAPromptWhereAllOfItHasRoom) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4});
  bench.add(5, 3);
  bench.add(12, 1);
  EXPECT_EQ(bench.iterate(), "0+5 |");  // 3 tokens are left, but 2 blocks for the other's 3
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3);
}

TEST(Scheduler, ReadsWholePromptsBeforeAnythingDecodes) {
  Bench bench(SchedulerPolicy::prefill_first);
  bench.add(5, 2);
  bench.add(3, 2);
  bench.add(6, 2);
  bench.add(3, 2);
  EXPECT_EQ(bench.iterate(), "0+5 1+3 |");
  EXPECT_EQ(bench.iterate(), "2+6 |");  // and not the 2 of the last one's 3 that are left
  EXPECT_EQ(bench.iterate(), "3+3 |");
  EXPECT_EQ(bench.iterate(), "| 0 1 2 3");
  EXPECT_EQ(bench.scheduler().running(), 0);
}

TEST(Scheduler, ReadsNoPromptWhileAnythingDecodes) {
  Bench bench(SchedulerPolicy::decode_first);
  bench.add(5, 3);
  bench.add(3, 1);
  EXPECT_EQ(bench.iterate(), "0+5 1+3 |");
  bench.add(2, 1);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "2+2 |");
}

TEST(Scheduler, PadsAStaticBatchAndKeepsItsSlotsUntilTheLastAnswerEnds) {
  Bench bench(SchedulerPolicy::static_batch, {.blocks = 100}, 100, 2);
  const Sequence& first = bench.add(5, 1);
  bench.add(3, 4);
  bench.add(4, 2);
  EXPECT_EQ(bench.iterate(), "0+5 1+3/5 |");
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(bench.scheduler().blocks_used(), 2 + 2);  // 5 + 4 - 1 positions each
    EXPECT_EQ(bench.scheduler().waiting(), 1);
    EXPECT_EQ(bench.iterate(), "| 0 1");
    EXPECT_EQ(first.generated, 1);
  }
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.iterate(), "2+4 |");
}

TEST(Scheduler, FormsAStaticBatchOfWhatFitsPadded) {
  Bench by_room(SchedulerPolicy::static_batch, {.blocks = 5}, 100);
  by_room.add(2, 1);  // 1 block alone, 2 beside the next one
  by_room.add(8, 1);
  by_room.add(1, 1);
  EXPECT_EQ(by_room.iterate(), "0+2/8 1+8 |");
  Bench by_tokens(SchedulerPolicy::static_batch, {.blocks = 100}, 15);
  by_tokens.add(2, 1);
  by_tokens.add(8, 1);
  EXPECT_EQ(by_tokens.iterate(), "0+2 |");
  EXPECT_EQ(by_tokens.iterate(), "1+8 |");
}

TEST(Scheduler, RunsNoMoreThanItsSequences) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 100}, 8, 2);
  bench.add(1, 2);
  bench.add(1, 3);
  bench.add(1, 1);
  EXPECT_EQ(bench.iterate(), "0+1 1+1 |");
  EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(bench.iterate(), "2+1 | 1");
}

TEST(Scheduler, LeavesTheWatermarkFreeUnlessNothingRuns) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 10}, 100);
  bench.config.kv.watermark = 0.25;  // 2 blocks
  bench.add(16, 9);
  bench.add(16, 1);
  bench.add(4, 1);
  EXPECT_EQ(bench.iterate(), "0+16 1+16 |");  // 8 blocks
  EXPECT_EQ(bench.iterate(), "2+4 | 0");      // 5 held, 1 and the 2
  Bench whole(SchedulerPolicy::chunked, {.blocks = 10}, 100);
  whole.config.kv.watermark = 0.25;
  whole.add(40, 1);
  EXPECT_EQ(whole.iterate(), "0+40 |");
}

// Each needs 3 blocks of 4 positions at its full length of 12; two have room for their prompts.
TEST(Scheduler, AdmitsWhatFitsToItsEnd) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 16);
  bench.config.kv.admission = Admission::whole;
  const Sequence& first = bench.add(8, 5);
  const Sequence& second = bench.add(8, 5);
  EXPECT_EQ(bench.iterate(), "0+8 |");
  for (int step = 0; step < 4; ++step) EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(first.preemptions + second.preemptions, 0);
}

// Where another replica decodes, a prompt's blocks are all that a sequence needs.
TEST(Scheduler, PromisesThePromptOnlyWhereSequencesLeaveAfterIt) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4, .prompts_only = true}, 16);
  bench.config.kv.admission = Admission::whole;
  bench.add(8, 5);
  bench.add(8, 5);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
}

// Two sequences of 2 blocks in a pool of 4; at 9 positions each needs another one.
TEST(Scheduler, ReadsThePromptAndTheAnswerOfThePreemptedAgain) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 16);
  bench.add(8, 5);
  const Sequence& young = bench.add(8, 5);
  bench.add(1, 1);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3);
  EXPECT_EQ(young.preemptions, 1);
  EXPECT_EQ(young.prompt, 9);
  // It needs 3 blocks; the one that came last has room, but waits behind it.
  for (int step = 0; step < 3; ++step) EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+9 2+1 |");
  EXPECT_EQ(young.generated, 2);
  EXPECT_EQ(bench.iterate(), "| 1");
}

TEST(Scheduler, SwapsBlocksOutAndInWhereTheyFit) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4, .swap_blocks = 2}, 16);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 2);
  const Sequence& young = bench.add(8, 3);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0 | swap_out 2 of 1");
  EXPECT_EQ(bench.scheduler().swapped(), 2);
  EXPECT_EQ(young.cached, 8);
  EXPECT_EQ(bench.iterate(), "| |; swap_in 2 of 1");
  EXPECT_EQ(bench.scheduler().swapped(), 0);
  EXPECT_EQ(bench.scheduler().blocks_used(), 2);
  const SequenceMove back = bench.now.beside.front();
  EXPECT_EQ(bench.iterate(), "|");  // on its way
  bench.scheduler().arrived(back);
  EXPECT_EQ(bench.iterate(), "| 1");
  EXPECT_EQ(young.generated, 2);
  EXPECT_EQ(bench.iterate(), "| 1");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(Scheduler, ReadsAgainWhatTheSwapSpaceDoesNotHold) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4, .swap_blocks = 1}, 16);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 2);
  bench.add(8, 3);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+9 |");
}

// The oldest sequence decodes; of the others the youngest gives its blocks up, until there is room.
TEST(Scheduler, PreemptsTheYoungestFirst) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6}, 24);
  bench.add(8, 9);
  bench.add(8, 9);
  bench.add(8, 9);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 2+8 |");
  EXPECT_EQ(bench.iterate(), "| 0 1");  // 3 + 3 blocks
  EXPECT_EQ(bench.scheduler().blocks_used(), 6);
  for (int step = 0; step < 3; ++step) EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(bench.iterate(), "| 0");  // 13 positions
  EXPECT_EQ(bench.scheduler().waiting(), 2);
  bench.run_dry();
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.scheduler().waiting(), 0);
}

// Where all others are in an iteration, the sequence that needs a block waits itself.
TEST(Scheduler, PreemptsWhoNeedsABlockWhereTheOthersAreAtWork) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 16);
  bench.add(4, 9);
  const Sequence& young = bench.add(8, 9);
  EXPECT_EQ(bench.iterate(), "0+4 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0");  // 2 + 2 blocks
  EXPECT_EQ(young.preemptions, 1);
  EXPECT_EQ(bench.scheduler().blocks_used(), 2);
}

// Entries of 8 positions, 2 blocks.

// If the waiting sequence pinned its prefix, the other, which needs the whole pool, could never
// run.
TEST(Scheduler, SwapsACopyOfWhatIsSharedAlong) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .swap_blocks = 10, .prefix_block = 8}, 100);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 6);
  const Sequence& shares = bench.add(10, 8, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+8 1+10 |");
  EXPECT_EQ(bench.iterate(), "| 0 1");  // 9 and 11 positions: all blocks
  EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(shares.shared, 1);
  EXPECT_EQ(bench.iterate(), "| 0 | swap_out 3 of 1");
  EXPECT_EQ(shares.shared, 0);
  EXPECT_EQ(bench.scheduler().blocks_used(), 3);
  EXPECT_EQ(bench.scheduler().cached_prefix(shares.request), 8);  // for another sequence
  EXPECT_EQ(bench.iterate(), "| 0 |; swap_in 3 of 1");
  bench.scheduler().arrived(bench.now.beside.front());
  EXPECT_EQ(bench.scheduler().blocks_used(), 6);
  bench.run_dry();
  EXPECT_TRUE(shares.is_done());
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(Scheduler, HoldsHandedOverBlocksAtTheirSourceUntilTheyAreReleased) {
  Bench prefill(SchedulerPolicy::chunked);
  Bench decode(SchedulerPolicy::chunked);
  Sequence& s = prefill.add(8, 3);
  EXPECT_EQ(prefill.iterate(), "0+8 |");
  prefill.scheduler().hand_over(s);
  EXPECT_EQ(prefill.scheduler().running(), 0);
  EXPECT_EQ(prefill.scheduler().blocks_used(), 2);
  s.source = 0;
  decode.scheduler().submit(s);
  EXPECT_EQ(decode.iterate(), "| |; handover 2 of 0");
  EXPECT_EQ(prefill.scheduler().blocks_used(), 2);
  decode.scheduler().arrived(decode.now.beside.front());
  s.source = -1;
  prefill.scheduler().release(s);
  EXPECT_EQ(prefill.scheduler().blocks_used(), 0);
  EXPECT_EQ(decode.iterate(), "| 0");
  EXPECT_EQ(decode.iterate(), "| 0");
  EXPECT_EQ(s.generated, 3);
  EXPECT_EQ(decode.scheduler().blocks_used(), 0);
}

TEST(Scheduler, KeepsTheRowsOfAnEncoderBesideTheAnswers) {
  Bench bench(SchedulerPolicy::prefill_first, {.blocks = 100, .encoder = true}, 20);
  bench.add(10, 6);
  bench.add(9, 1);
  bench.add(2, 1);
  EXPECT_EQ(bench.plan(), "0+1/10 1+1/9 |");  // 19 of the 20
  EXPECT_EQ(bench.scheduler().blocks_used(), (3 + 1) + (3 + 1));
  bench.scheduler().finish(bench.now);
  EXPECT_EQ(bench.iterate(), "2+1/2 |");
  for (int step = 0; step < 4; ++step) EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3 + 2);  // 5 positions of the decoder
}

TEST(Scheduler, HoldsNoMoreThanTheWindow) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 5, .groups = {{.most = 2}}}, 100);
  bench.add(50, 3);
  bench.add(3, 1);
  EXPECT_EQ(bench.plan(), "0+50 1+3 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 2 + 1);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 1000, .output_tokens = 1}), 2);
}

// The last token's own keys are never kept.
TEST(Scheduler, NeedsBlocksForAllPositionsButThatOfTheLastToken) {
  Bench bench(SchedulerPolicy::chunked);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 4, .output_tokens = 1}), 1);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 4, .output_tokens = 5}), 2);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 4, .output_tokens = 6}), 3);
}

}  // namespace
}  // namespace tiersim::serving_scheduler_test
