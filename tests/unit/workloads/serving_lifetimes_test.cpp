// Lifetimes of blocks, pauses of sessions and prefetches, in a pool of 10 blocks with entries of 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/scheduler_bench.hpp"
#include "workloads/serving/kv_pool.hpp"

namespace tiersim::serving_lifetimes_test {
namespace {

using testing::SchedulerBench;
using Moves = std::vector<BlockMove>;

constexpr Duration kSecond{kPicosecondsPerSecond};
constexpr SimTime at(std::int64_t seconds) {
  return SimTime(seconds * kSecond);
}

KvPool::Prefixes prefixes(WritePolicy policy = WritePolicy::write_through) {
  return {.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8), .write_policy = policy};
}
PrefixLevel level(std::int64_t blocks, std::optional<Duration> ttl = {}) {
  PrefixLevel out(blocks);
  out.ttl = ttl;
  return out;
}

// A sequence that made these entries and has ended; what waits to be stored is stored.
void leave_behind(KvPool& of, const PrefixBlocks& prefix) {
  Moves moves;
  ASSERT_TRUE(of.take(std::ssize(prefix) * 2, moves));
  of.share(prefix);
  of.release(prefix);
  for (const std::int64_t to : {1, 2})
    if (of.has_prefixes() && to <= of.levels_below())
      if (const auto store = of.next_store(to)) of.stored(*store);
}
std::int64_t found(const KvPool& pool, const PrefixBlocks& names) {
  return pool.find(names).entries;
}
void advance(KvPool& pool, std::int64_t seconds) {
  Moves moves;
  pool.advance(at(seconds), moves);
  EXPECT_TRUE(moves.empty());
}

TEST(PoolLifetime, EndsSoLongAfterTheLastUse) {
  auto with = prefixes();
  with.ttl = 10 * kSecond;
  KvPool pool(10, with);
  leave_behind(pool, {1});
  advance(pool, 4);
  leave_behind(pool, {2});
  advance(pool, 8);
  Moves moves;
  pool.pin(PrefixBlocks{1}, moves);  // in use it does not age
  advance(pool, 13);
  EXPECT_EQ(found(pool, {1}), 1);
  EXPECT_EQ(found(pool, {2}), 1);
  pool.release(PrefixBlocks{1});
  advance(pool, 14);
  EXPECT_EQ(found(pool, {2}), 0);
  EXPECT_EQ(pool.occupied(), 2);
  advance(pool, 22);
  EXPECT_EQ(found(pool, {1}), 1);
  advance(pool, 23);
  EXPECT_EQ(found(pool, {1}), 0);
  EXPECT_EQ(pool.occupied(), 0);
}

// Under write-through each level has its own copy and its own lifetime.
TEST(PoolLifetime, IsOfEachTierByItself) {
  auto with = prefixes();
  with.levels = {level(20, 3 * kSecond), level(20)};
  with.ttl = 10 * kSecond;
  KvPool pool(10, with);
  leave_behind(pool, {1, 2});
  EXPECT_EQ(pool.below(1), 4);
  EXPECT_EQ(pool.below(2), 4);
  advance(pool, 2);
  Moves moves;
  pool.pin(PrefixBlocks{1}, moves);  // a use of the copies, too
  pool.release(PrefixBlocks{1});
  advance(pool, 3);
  EXPECT_EQ(pool.below(1), 2);
  advance(pool, 5);
  EXPECT_EQ(pool.below(1), 0);
  advance(pool, 12);
  EXPECT_EQ(pool.occupied(), 0);
  EXPECT_EQ(pool.find(PrefixBlocks{1, 2}).below, 4);  // in the second tier
}

// Under write-back a block goes on to the next level, by a copy, as when it is evicted.
TEST(PoolLifetime, EndsInTheNextTierUnderWriteBack) {
  auto with = prefixes(WritePolicy::write_back);
  with.levels = {level(20, 5 * kSecond), level(20)};
  with.ttl = 10 * kSecond;
  KvPool pool(10, with);
  Moves moves;
  ASSERT_TRUE(pool.take(2, moves));
  pool.share(PrefixBlocks{1});
  pool.release(PrefixBlocks{1});
  pool.advance(at(10), moves);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].kind, MoveKind::prefix_store);
  EXPECT_EQ(moves[0].from, 0);
  EXPECT_EQ(moves[0].to, 1);
  EXPECT_EQ(pool.below(1), 2);
  pool.advance(at(15), moves);  // 5 s after it came there
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[1].from, 1);
  EXPECT_EQ(moves[1].to, 2);
  EXPECT_EQ(moves[1].blocks, 2);
}

SessionPlace session(std::int64_t number) {
  return {.session = number, .pause = SessionPause::tool};
}
// A sequence of the session computes the entries, and the session pauses.
void pause(KvPool& pool, std::int64_t number, const PrefixBlocks& names) {
  Moves moves;
  ASSERT_TRUE(pool.take(std::ssize(names) * 2, moves));
  pool.share(names);
  pool.pause(session(number), names);
}

TEST(SessionPause, KeepsItsBlocksForATime) {
  auto with = prefixes();
  with.pauses = PauseLimits{.time = 5 * kSecond, .blocks = 10};
  KvPool pool(10, with);
  pause(pool, 1, {1, 2});
  EXPECT_EQ(pool.used(), 4);
  Moves moves;
  EXPECT_FALSE(pool.take(8, moves));
  advance(pool, 4);
  EXPECT_EQ(pool.used(), 4);
  advance(pool, 5);
  EXPECT_EQ(pool.used(), 0);
  EXPECT_EQ(found(pool, {1, 2}), 2);  // as any other block that nobody uses
}

TEST(SessionPause, EndsWithTheNextRequest) {
  auto with = prefixes();
  with.pauses = PauseLimits{.time = 5 * kSecond, .blocks = 10};
  KvPool pool(10, with);
  pause(pool, 1, {1, 2});
  pause(pool, 2, {1, 3});
  EXPECT_EQ(pool.used(), 6);
  Moves moves;
  pool.pin(PrefixBlocks{1, 2}, moves);
  pool.resume(session(1));
  EXPECT_EQ(pool.used(), 6);
  pool.release(PrefixBlocks{1, 2});
  EXPECT_EQ(pool.used(), 4);  // 1 and 3 of the other session
  pool.resume(session(2));
  EXPECT_EQ(pool.used(), 0);
  pool.resume(session(2));  // nothing is left
}

// Four blocks: 1 counts once for both sessions, and a third one is beyond the limit.
TEST(SessionPause, HasAShareOfThePool) {
  auto with = prefixes();
  with.pauses = PauseLimits{.time = 5 * kSecond, .blocks = 4};
  KvPool pool(10, with);
  pause(pool, 1, {1});
  pause(pool, 2, {1, 2});
  EXPECT_EQ(pool.used(), 4);
  pause(pool, 3, {3});
  EXPECT_EQ(pool.used(), 4);
  EXPECT_TRUE(pool.end_a_pause());
  EXPECT_EQ(pool.used(), 4);  // both are of session 2, too
  EXPECT_TRUE(pool.end_a_pause());
  EXPECT_EQ(pool.used(), 0);
  EXPECT_FALSE(pool.end_a_pause());
}

TEST(SessionPause, MayDiscardWhatNobodyElseUses) {
  auto with = prefixes();
  with.levels = {level(20)};
  KvPool pool(10, with);
  leave_behind(pool, {1, 2});
  Moves moves;
  pool.pin(PrefixBlocks{1}, moves);
  pool.pin(PrefixBlocks{1, 2}, moves);
  pool.discard(PrefixBlocks{1, 2}, moves);
  EXPECT_EQ(pool.occupied(), 2);
  EXPECT_EQ(pool.find(PrefixBlocks{1, 2}).below, 2);  // 2 is below, and 1 in use
  pool.release(PrefixBlocks{1});
  EXPECT_EQ(pool.occupied(), 2);
  // One that is being stored leaves once that has ended.
  ASSERT_TRUE(pool.take(2, moves));
  pool.share(PrefixBlocks{3});
  const auto store = pool.next_store(1);
  pool.discard(PrefixBlocks{3}, moves);
  EXPECT_EQ(pool.occupied(), 4);
  pool.stored(*store);
  EXPECT_EQ(pool.occupied(), 2);
  EXPECT_EQ(pool.find(PrefixBlocks{3}).below, 2);
  EXPECT_TRUE(moves.empty());
}

// The state of linear attention that the next prompt needs stays with the rest.
TEST(SessionPause, KeepsAStateToo) {
  auto with = prefixes();
  with.parts =
      PrefixParts(std::vector<BlockGroup>{{}, {.blocks = 3, .most = 1, .is_state = true}}, 4, 8);
  with.pauses = PauseLimits{.time = 5 * kSecond, .blocks = 10};
  KvPool pool(10, with);
  Moves moves;
  ASSERT_TRUE(pool.take(2, moves));
  pool.share(PrefixBlocks{1});
  pool.keep(PrefixEntries{pool.parts().state(1)}, 3, moves);
  pool.pause(session(1), PrefixBlocks{1});
  EXPECT_EQ(pool.used(), 5);
  pool.resume(session(1));
  EXPECT_EQ(pool.used(), 0);
}

// Blocks 1 and 2 lie below the pool. There is room for one of them, and it is the first one.
TEST(Prefetch, LoadsTheBeginningThatFits) {
  auto with = prefixes();
  with.levels = {level(20)};
  KvPool pool(10, with);
  leave_behind(pool, {1, 2});
  Moves moves;
  ASSERT_TRUE(pool.take(10, moves));  // evicts them
  pool.give(10);
  EXPECT_EQ(pool.occupied(), 0);
  const PrefixEntries loads = pool.prefetch(PrefixBlocks{1, 2}, 3, moves);
  EXPECT_EQ(loads, PrefixEntries{1});
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].kind, MoveKind::prefetch);
  EXPECT_EQ(moves[0].blocks, 2);
  EXPECT_EQ(pool.used(), 2);
  EXPECT_EQ(pool.prefetching(), 2);
  EXPECT_TRUE(pool.is_loading(PrefixBlocks{1}));
  pool.prefetched(loads);
  EXPECT_EQ(pool.used(), 0);
  EXPECT_EQ(pool.occupied(), 2);
  EXPECT_EQ(pool.find(PrefixBlocks{1, 2}).below, 2);
  EXPECT_TRUE(pool.prefetch(PrefixBlocks{1, 2}, 3, moves).empty());  // 1 is there and stays
}

// The second tier is exclusive, and has alone what the first one has no room for. What it loads
// ahead stays there until the first tier has it, so that evicting it before its use loses nothing.
TEST(Prefetch, LeavesAnExclusiveTierTheOnlyCopy) {
  auto with = prefixes();
  with.levels = {level(4), level(20)};
  with.levels[1].exclusive = true;
  KvPool pool(10, with);
  leave_behind(pool, {1, 2, 3});
  Moves moves;
  ASSERT_TRUE(pool.take(10, moves));  // evicts them
  pool.give(10);
  ASSERT_EQ(pool.below(1), 4);
  ASSERT_EQ(pool.below(2), 2);
  pool.prefetched(pool.prefetch(PrefixBlocks{1, 2, 3}, 10, moves));
  EXPECT_EQ(pool.occupied(), 6);
  ASSERT_TRUE(pool.take(10, moves));
  pool.give(10);
  EXPECT_EQ(found(pool, {1, 2, 3}), 3);
}

// Under write-back it takes free blocks alone, so that nothing is copied down for it.
TEST(Prefetch, EvictsNothingUnderWriteBack) {
  auto with = prefixes(WritePolicy::write_back);
  with.levels = {level(20)};
  KvPool pool(6, with);
  Moves moves;
  const auto make = [&](const PrefixBlocks& names) {
    ASSERT_TRUE(pool.take(std::ssize(names) * 2, moves));
    pool.share(names);
    pool.release(names);
  };
  make({1, 2});
  make({3, 4});  // 2 goes down
  moves.clear();
  EXPECT_TRUE(pool.prefetch(PrefixBlocks{1, 2}, 6, moves).empty());
  EXPECT_TRUE(moves.empty());
  EXPECT_EQ(pool.below(1), 2);
}

// Block 1 lies in the pool and stays; two blocks are free, and 2 needs no more.
TEST(Prefetch, UnderWriteBackTakesTheBlocksThatAreFree) {
  auto with = prefixes(WritePolicy::write_back);
  with.levels = {level(20)};
  KvPool pool(6, with);
  Moves moves;
  ASSERT_TRUE(pool.take(4, moves));
  pool.share(PrefixBlocks{1, 2});
  pool.release(PrefixBlocks{1, 2});
  ASSERT_TRUE(pool.take(4, moves));  // 2 goes down
  pool.give(2);
  ASSERT_EQ(pool.below(1), 2);
  EXPECT_EQ(pool.prefetch(PrefixBlocks{1, 2}, pool.available(), moves), PrefixEntries{2});
}

// A state comes by itself, and whoever needs it waits for it.
TEST(Prefetch, OfAStateIsWaitedFor) {
  auto with = prefixes();
  with.parts = PrefixParts(std::vector<BlockGroup>{{}, {.most = 1, .is_state = true}}, 4, 8);
  with.levels = {level(20)};
  KvPool pool(10, with);
  Moves moves;
  const PrefixEntry state = pool.parts().state(1);
  leave_behind(pool, {1});
  pool.keep(std::span(&state, 1), 10, moves);
  pool.stored(*pool.next_store(1));
  ASSERT_TRUE(pool.take(10, moves));
  pool.give(10);
  moves.clear();
  const PrefixEntries loads = pool.prefetch(PrefixBlocks{1}, 10, moves);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_TRUE(pool.is_loading(PrefixBlocks{1}));
  EXPECT_EQ(pool.keep(std::span(&state, 1), 10, moves), 0);  // it is not there yet
  EXPECT_FALSE(pool.next_store(1));
  pool.prefetched(loads);
  EXPECT_FALSE(pool.is_loading(PrefixBlocks{1}));
}

// A level whose queue is too long has nothing for a while, and what a prompt computes instead
// counts as declined.
TEST(Scheduler, PassesOverALevel) {
  SchedulerBench bench(SchedulerPolicy::chunked,
                       {.blocks = 10, .prefix_block = 8, .prefix_levels = {20}}, 100);
  bench.add(16, 1, {1, 2});
  bench.iterate();
  bench.scheduler().stored(*bench.scheduler().next_store(1));
  bench.add(40, 1);  // takes the whole pool
  bench.iterate();
  bench.scheduler().pass_over({0, 1});
  const Sequence& s = bench.add(18, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "2+18 |");
  EXPECT_EQ(s.cached_tokens, 0);
  EXPECT_EQ(s.declined_tokens, 16);
  EXPECT_EQ(bench.scheduler().cached_prefix(s.request), 16);  // in the pool
  bench.add(40, 1);
  bench.iterate();
  EXPECT_EQ(bench.scheduler().cached_prefix(s.request), 0);
  bench.scheduler().pass_over({0, 0});
  EXPECT_EQ(bench.scheduler().cached_prefix(s.request), 16);
}

// 10 blocks of 4 positions. The prefix of request 3 is loaded before it is admitted, and it waits
// for what is left of that.
TEST(Scheduler, PrefetchesForAPromptThatIsToCome) {
  SchedulerBench bench(SchedulerPolicy::chunked,
                       {.blocks = 10, .prefix_block = 8, .prefix_levels = {20}}, 100);
  bench.add(16, 1, {1, 2});
  bench.iterate();
  bench.scheduler().stored(*bench.scheduler().next_store(1));
  bench.add(40, 1);  // takes the whole pool
  EXPECT_EQ(bench.iterate(), "1+40 |");
  bench.add(16, 9);
  EXPECT_EQ(bench.iterate(), "2+16 |");
  const Request coming{.input_tokens = 18, .output_tokens = 1, .prefix = {1, 2}};
  const Scheduler::Prefetch load = bench.scheduler().prefetch(coming);
  EXPECT_EQ(load.entries, (PrefixEntries{1, 2}));
  ASSERT_EQ(load.moves.size(), 1U);
  EXPECT_EQ(load.moves.front().blocks, 4);
  EXPECT_TRUE(bench.scheduler().prefetch(coming).entries.empty());  // it is on its way
  bench.add(18, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "| 2");
  bench.scheduler().prefetched(load);
  EXPECT_EQ(bench.iterate(), "3+2 | 2");
}

// The prompt is read in the iteration that loads its prefix.
TEST(Scheduler, ReadsAPromptWhileItsPrefixIsLoaded) {
  SchedulerBench bench(
      SchedulerPolicy::chunked,
      {.blocks = 6, .prefix_block = 8, .prefix_levels = {20}, .layerwise_load = true}, 100);
  bench.add(16, 1, {1, 2});
  bench.iterate();
  bench.scheduler().stored(*bench.scheduler().next_store(1));
  bench.add(24, 1);
  EXPECT_EQ(bench.iterate(), "1+24 |");
  bench.add(18, 1, {1, 2, 3});
  EXPECT_EQ(bench.plan(), "2+2 |");
  ASSERT_EQ(bench.now.within.size(), 1U);
  EXPECT_EQ(bench.now.within.front().move.blocks, 4);
  bench.scheduler().arrived(bench.now.within.front());
  bench.scheduler().finish(bench.now);
  EXPECT_EQ(bench.scheduler().running(), 0);
}

// A session that pauses keeps 4 of 6 blocks. A prompt that needs 3 waits while another one runs,
// and takes them once nothing does.
TEST(Scheduler, APauseYieldsWhereNothingElseRuns) {
  BlockLimits limits{.blocks = 6, .prefix_block = 8};
  limits.tool_calls = PausedBlocks::preserve;
  limits.pause_limits = {.time = 100 * kSecond, .blocks = 6};
  SchedulerBench bench(SchedulerPolicy::chunked, limits, 100);
  Sequence& first = bench.add(16, 1, {1, 2});
  first.request.session = session(7);
  EXPECT_EQ(bench.iterate(), "0+16 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4);
  bench.add(4, 2);
  EXPECT_EQ(bench.iterate(), "1+4 |");
  bench.add(12, 1);
  EXPECT_EQ(bench.iterate(), "| 1");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4);
  EXPECT_EQ(bench.iterate(), "2+12 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

// A sequence that runs needs the room of the pause before it would lose its own blocks.
TEST(Scheduler, APauseYieldsBeforeASequenceIsPreempted) {
  BlockLimits limits{.blocks = 6, .prefix_block = 8};
  limits.tool_calls = PausedBlocks::preserve;
  limits.pause_limits = {.time = 100 * kSecond, .blocks = 6};
  SchedulerBench bench(SchedulerPolicy::chunked, limits, 100);
  bench.add(16, 1, {1, 2}).request.session = session(7);
  bench.iterate();
  Sequence& second = bench.add(8, 2);
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(bench.iterate(), "| 1");
  EXPECT_EQ(second.preemptions, 0);
}

}  // namespace
}  // namespace tiersim::serving_lifetimes_test
