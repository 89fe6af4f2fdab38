// Prefixes of models whose layers keep different positions: named blocks of 8 positions, in blocks
// of 4 (scheduler_bench.hpp).
#include <gtest/gtest.h>

#include "tests/unit/workloads/scheduler_bench.hpp"

namespace tiersim::serving_scheduler_layers_test {
namespace {

using Bench = testing::SchedulerBench;

// A window of 8 positions beside layers that keep all.
BlockLimits windows(std::int64_t blocks = 100) {
  return {.blocks = blocks, .groups = {{.most = 2}, {}}, .prefix_block = 8};
}
// States of 3 blocks beside them.
BlockLimits states(KeptStates kept = KeptStates::last, std::int64_t blocks = 100) {
  return {.blocks = blocks,
          .groups = {{}, {.blocks = 3, .most = 1, .is_state = true}},
          .prefix_block = 8,
          .states = kept};
}

// 19 positions take 5 blocks, and 2 of the window. What stays are 2 whole named blocks: 4 blocks,
// and 4 of the window's layers, of which all stretches are kept.
TEST(SchedulerOfWindows, PinsTheWindowBeforeTheEndOfWhatItFinds) {
  Bench bench(SchedulerPolicy::chunked, windows(), 100);
  bench.add(19, 1, {1, 2, 3});
  EXPECT_EQ(bench.plan(), "0+19 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 5 + 2);
  bench.scheduler().finish(bench.now);
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.scheduler().pool().occupied(), 4 + 4);
  // The next prompt has 18 positions, of which the window begins at the fourth stretch, so that one
  // of the two pinned ones stands for a block of its own.
  const Sequence& like = bench.add(18, 20, {1, 2, 4});
  EXPECT_EQ(bench.iterate(), "1+2 |");
  EXPECT_EQ(like.cached_tokens, 16);
  EXPECT_EQ(like.window.size(), 1U);
  EXPECT_EQ(like.blocks, (5 - 4) + (2 - 1));
  EXPECT_EQ(bench.scheduler().blocks_used(), 5 + 2);
  // After 20 positions the window is 12 to 19, and after 21 it begins at 16.
  bench.iterate();
  bench.iterate();
  EXPECT_EQ(like.window.size(), 1U);
  bench.iterate();
  EXPECT_EQ(like.cached, 21);
  EXPECT_EQ(like.window.size(), 0U);
  EXPECT_EQ(bench.scheduler().blocks_used(), 6 + 2);
}

// Blocks that a window has left are evicted first. After that a prompt with the first named block
// alone finds nothing, and a prompt with both of them finds both.
TEST(SchedulerOfWindows, FindsTheLongestOfWhichTheWindowIsThere) {
  Bench bench(SchedulerPolicy::chunked, windows(14), 100);
  const Sequence& first = bench.add(17, 1, {1, 2});
  bench.run_dry();
  EXPECT_EQ(bench.scheduler().pool().occupied(), 8);
  EXPECT_EQ(bench.scheduler().cached_prefix(first.request), 16);
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1}}), 8);
  bench.add(20, 1);  // takes 5 + 2 blocks, one of those that are kept
  bench.run_dry();
  EXPECT_EQ(bench.scheduler().pool().occupied(), 7);
  EXPECT_EQ(bench.scheduler().cached_prefix(first.request), 16);
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1}}), 0);
}

// Layers in chunks of 16 positions, two named blocks: behind a chunk nothing of it is needed.
TEST(SchedulerOfChunks, NeedsNothingOfAnEarlierChunk) {
  Bench bench(SchedulerPolicy::chunked,
              {.blocks = 100, .groups = {{.most = 4, .chunk = 16}, {}}, .prefix_block = 8}, 100);
  bench.add(25, 1, {1, 2, 3});
  EXPECT_EQ(bench.plan(), "0+25 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 7 + 4);
  bench.scheduler().finish(bench.now);
  // Three named blocks, and of the chunks those of the first and the third: 2 blocks each.
  EXPECT_EQ(bench.scheduler().pool().occupied(), 6 + 4);
  const Sequence& behind = bench.add(20, 1, {1, 2, 9});
  EXPECT_EQ(bench.plan(), "1+4 |");
  EXPECT_EQ(behind.window.size(), 0U);
  EXPECT_EQ(bench.scheduler().blocks_used(), 5 + 4);
  bench.scheduler().finish(bench.now);
  const Sequence& within = bench.add(26, 1, {1, 2, 3});
  EXPECT_EQ(bench.plan(), "2+2 |");
  EXPECT_EQ(within.window.size(), 2U);
  EXPECT_EQ(within.blocks, (7 - 6) + (4 - 2));
}

// A prompt of 27 positions in pieces of 12: the pieces end behind the first and the third named
// block. The next prompt has two of them, and begins with the state after the first.
TEST(SchedulerOfStates, CutsAHitDownToTheLastStateThatIsKept) {
  Bench bench(SchedulerPolicy::chunked, states(), 12);
  bench.add(27, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "0+12 |");
  EXPECT_EQ(bench.scheduler().pool().occupied(), 7 + 3 + 3);  // its blocks, its state, the copy
  EXPECT_EQ(bench.iterate(), "0+12 | | state_store 3");
  EXPECT_EQ(bench.iterate(), "0+3 | | state_store 3");
  EXPECT_EQ(bench.scheduler().pool().occupied(), 6 + 3 + 3);
  const Sequence& second = bench.add(20, 1, {1, 2, 4});
  EXPECT_EQ(bench.plan(), "1+12 | | state_load 3 of 1");
  EXPECT_EQ(second.cached_tokens, 8);
  EXPECT_EQ(bench.scheduler().blocks_used(), 5 + 3);
  bench.scheduler().finish(bench.now);
  // It has kept the state where it left what was cached.
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1, 2}}), 16);
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1, 2, 3}}), 24);
}

// The piece ends behind the fourth named block; the prompt left what was cached behind the second.
TEST(SchedulerOfStates, KeepsTheStateWhereAPromptLeavesWhatIsCached) {
  Bench bench(SchedulerPolicy::chunked, states(), 100);
  bench.add(25, 1, {1, 2, 3});
  bench.run_dry();
  bench.add(33, 1, {1, 2, 4, 5});
  EXPECT_EQ(bench.iterate(), "1+33 |");  // no state behind the second named block
  EXPECT_EQ(bench.plan(), "| | state_store 3, state_store 3");
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1, 2}}), 16);
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1, 2, 4}}), 16);
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1, 2, 4, 5}}), 32);
}

TEST(SchedulerOfStates, KeepsAllOfThemWhereAsked) {
  Bench bench(SchedulerPolicy::chunked, states(KeptStates::all), 100);
  bench.add(25, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "0+25 |");
  EXPECT_EQ(bench.plan(), "| | state_store 3, state_store 3, state_store 3");
  EXPECT_EQ(bench.scheduler().cached_prefix({.prefix = {1, 2}}), 16);
}

// 12 positions take 3 blocks and 3 of the state. A copy needs 3 more.
TEST(SchedulerOfStates, KeepsNoneWhereSequencesHoldTheRoom) {
  for (const std::int64_t blocks : {8, 9}) {
    Bench bench(SchedulerPolicy::chunked, states(KeptStates::last, blocks), 100);
    bench.add(12, 1, {1});
    bench.run_dry();
    const KvPool::Found found = bench.scheduler().pool().find(PrefixBlocks{1});
    EXPECT_EQ(found.matched, 1);
    EXPECT_EQ(found.entries, blocks == 9 ? 1 : 0);
  }
}

// The state is loaded into the blocks of the sequence, whose 3 are counted once.
TEST(SchedulerOfStates, LoadsAStateFromATierBelow) {
  BlockLimits limits = states(KeptStates::last, 9);
  limits.prefix_levels = {20};
  Bench bench(SchedulerPolicy::chunked, limits, 100);
  bench.add(12, 1, {1});
  EXPECT_EQ(bench.iterate(), "0+12 |");
  const auto store = bench.scheduler().next_store(1);
  ASSERT_TRUE(store);
  EXPECT_EQ(blocks_of(store->entries), 2 + 3);
  bench.scheduler().stored(*store);
  EXPECT_EQ(bench.scheduler().pool().below(1), 5);
  bench.add(24, 1);  // 6 + 3 blocks, the whole pool
  EXPECT_EQ(bench.iterate(), "1+24 | | state_store 3");
  EXPECT_EQ(bench.scheduler().pool().occupied(), 0);
  const Sequence& like = bench.add(12, 1, {1});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 5 of 2");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3 + 3);
  bench.scheduler().arrived(bench.now.beside.front());
  EXPECT_EQ(like.cached, 8);
  EXPECT_EQ(bench.iterate(), "2+4 | | state_store 3");  // the pool keeps it, too
  EXPECT_EQ(bench.scheduler().pool().below(1), 5);
  EXPECT_EQ(bench.scheduler().pool().occupied(), 2 + 3);
}

// The second one needs a sixth block where none is free: 5 go, and 2 of the window, of which it
// pins one.
TEST(SchedulerOfWindows, SwapsItsWindowAlong) {
  BlockLimits limits = windows(12);
  limits.swap_blocks = 20;
  Bench bench(SchedulerPolicy::chunked, limits, 100);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 30);
  const Sequence& s = bench.add(17, 30, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+8 1+17 |");
  EXPECT_EQ(s.window.size(), 1U);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(bench.iterate(), "| 0 | swap_out 7 of 1");
  EXPECT_EQ(s.window.size(), 0U);
  EXPECT_EQ(s.swapped, 7);
  EXPECT_EQ(bench.scheduler().blocks_used(), 3 + 2);
}

// Blocks of windows that were pinned go with a hand-over, and stay at the source until then.
TEST(SchedulerOfWindows, HandsItsWindowOver) {
  BlockLimits limits = windows();
  limits.prompts_only = true;
  Bench bench(SchedulerPolicy::chunked, limits, 100);
  Sequence& s = bench.add(16, 5, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  EXPECT_EQ(s.window.size(), 2U);
  bench.scheduler().hand_over(s);
  EXPECT_EQ(s.window.size(), 0U);
  EXPECT_EQ(bench.scheduler().blocks_used(), 4 + 2);
  bench.scheduler().release(s);
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.scheduler().pool().occupied(), 4 + 4);
}

}  // namespace
}  // namespace tiersim::serving_scheduler_layers_test
