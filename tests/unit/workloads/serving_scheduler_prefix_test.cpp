// Prefixes of prompts: iterations and copies worked out by hand (scheduler_bench.hpp).
#include "tests/unit/workloads/scheduler_bench.hpp"

#include <gtest/gtest.h>

namespace tiersim::serving_scheduler_prefix_test {
namespace {

using Bench = testing::SchedulerBench;

const BlockLimits kPrefixes{.blocks = 100, .prefix_block = 8};

TEST(Scheduler, FindsThePrefixThatAnEarlierPromptLeft) {
  Bench bench(SchedulerPolicy::chunked, kPrefixes, 100);
  bench.add(19, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "0+19 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.scheduler().pool().occupied(), 4);  // the whole ones
  const Sequence& like = bench.add(18, 1, {1, 2, 4});
  EXPECT_EQ(bench.scheduler().cached_prefix(like.request), 16);
  EXPECT_EQ(bench.plan(), "1+2 |");
  EXPECT_EQ(like.cached_tokens, 16);
  EXPECT_EQ(bench.scheduler().blocks_used(), 4 + 1);
}

TEST(Scheduler, ComputesTheLastPositionOfAPromptThatIsCachedWhole) {
  Bench bench(SchedulerPolicy::chunked, kPrefixes, 100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  bench.add(16, 2, {1, 2});
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4);  // no second copy stays
}

TEST(Scheduler, SharesWhatIsComputedAsSoonAsItIsThere) {
  Bench bench(SchedulerPolicy::chunked, kPrefixes, 8);
  bench.add(24, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "0+8 |");
  EXPECT_EQ(bench.iterate(), "0+8 |");
  bench.add(18, 1, {1, 2, 4});
  EXPECT_EQ(bench.iterate(), "0+8 |");
  EXPECT_EQ(bench.iterate(), "1+2 |");
}

// The last block of a prompt is filled by the answer, which is not shared with the next client.
TEST(Scheduler, SharesNoBlockThatAnAnswerFills) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8}, 100);
  bench.add(8, 2);
  const Sequence& s = bench.add(15, 3, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+8 1+15 |");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(s.prompt, 16);              // with the token that it had
  EXPECT_EQ(bench.iterate(), "1+8 |");  // its first block was still there
  EXPECT_EQ(bench.scheduler().cached_prefix(s.request), 8);
}

// The first one loads block 1, the second one block 2, and the third one only waits for both.
TEST(Scheduler, WaitsForWhatItLoadsAndForWhatOthersLoad) {
  Bench bench(SchedulerPolicy::chunked,
              {.blocks = 7,
               .prefix_block = 8,
               .prefix_levels = {20},
               .write_policy = WritePolicy::write_back},
              100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  bench.add(28, 1);  // needs the whole pool
  EXPECT_EQ(bench.iterate(), "1+28 | | prefix_store 4");
  bench.add(10, 1, {1, 3});
  const Sequence& second = bench.add(18, 1, {1, 2, 4});
  const Sequence& third = bench.add(18, 1, {1, 2, 5});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 2 of 2, prefix_load 2 of 3");
  EXPECT_EQ(bench.scheduler().blocks_used(), 2 + 2 + 3);  // one more for each prompt
  const std::vector<SequenceMove> loads = bench.now.beside;
  bench.scheduler().arrived(loads[1]);
  EXPECT_TRUE(second.loading());  // block 1 is on its way
  EXPECT_TRUE(third.loading());
  EXPECT_EQ(bench.iterate(), "|");
  bench.scheduler().arrived(loads[0]);
  EXPECT_EQ(bench.iterate(), "2+2 3+2 4+2 |");
}

// Where blocks are written through, the pool's room waits for the store, and the next
// prompt for neither.
TEST(Scheduler, WritesAPrefixThroughBesideTheIterations) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8, .prefix_levels = {20}},
              100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4);
  bench.add(24, 1);  // needs the whole pool
  EXPECT_EQ(bench.iterate(), "|");
  const auto store = bench.scheduler().next_store(1);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->entries, (PrefixEntries{1, 2}));
  bench.scheduler().stored(*store);
  EXPECT_EQ(bench.iterate(), "1+24 |");
  bench.add(18, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 4 of 2");
}

// A store that is late leaves a hole: block 1 has left the pool, 2 and 3 have not. What is loaded
// is block 1, and it is there once its own load is.
TEST(Scheduler, LoadsABlockInFrontOfOthersThatAreThere) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8, .prefix_levels = {20}}, 8);
  bench.add(24, 1, {1, 2, 3});
  bench.iterate();
  const auto first = bench.scheduler().next_store(1);
  bench.iterate();
  bench.iterate();
  const auto others = bench.scheduler().next_store(1);
  bench.scheduler().stored(*first);
  bench.add(8, 1);  // takes the room of block 1
  EXPECT_EQ(bench.iterate(), "1+8 |");
  bench.scheduler().stored(*others);
  Sequence& s = bench.add(23, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 2 of 2");
  EXPECT_EQ(s.loads, PrefixEntries{1});
  bench.scheduler().arrived(bench.now.beside.front());
  EXPECT_EQ(bench.iterate(), "2+7 |");
}

// Block 1 is in the pool and 2 below it. The prompt is asked about block 2 alone, declines it, and
// computes its positions after those of block 1.
TEST(Scheduler, ComputesWhatWouldTakeLongerToLoad) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8, .prefix_levels = {20}},
              100);
  std::vector<PrefixLoad> asked;
  bool loads = false;
  bench.scheduler().choose_loads([&](const PrefixLoad& load) {
    asked.push_back(load);
    return loads;
  });
  bench.add(16, 1, {1, 2});
  bench.iterate();
  bench.scheduler().stored(*bench.scheduler().next_store(1));
  bench.add(12, 1);  // takes two blocks of the pool from block 2
  bench.iterate();
  Sequence& first = bench.add(17, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "2+9 |");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked.front().before, 8);
  EXPECT_EQ(asked.front().positions, 8);
  EXPECT_EQ(asked.front().from, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(first.cached_tokens, 8);
  EXPECT_EQ(first.declined_tokens, 8);
  bench.add(24, 1);  // needs the whole pool
  bench.iterate();
  loads = true;
  const Sequence& second = bench.add(17, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 4 of 4");
  EXPECT_EQ(second.cached_tokens, 16);
  EXPECT_EQ(second.declined_tokens, 0);
}

}  // namespace
}  // namespace tiersim::serving_scheduler_prefix_test
