#include "workloads/serving/prefix_cache.hpp"

#include <gtest/gtest.h>

namespace tiersim::prefix_cache_test {
namespace {

using Levels = std::vector<std::int64_t>;

// A prompt that has been computed and is done with.
void leave(PrefixCache& cache, const PrefixEntries& prompt) {
  cache.use(prompt);
  cache.release(prompt);
}

TEST(PrefixCache, KnowsNothingAtFirst) {
  const PrefixCache cache({4});
  EXPECT_EQ(cache.find(PrefixEntries{1, 2}), Levels{});
  EXPECT_EQ(cache.pooled(), 0);
  EXPECT_EQ(cache.evictable(), 0);
  EXPECT_EQ(cache.held(1), 0);
}

TEST(PrefixCache, FindsTheLeadingBlocksThatEarlierPromptsLeft) {
  PrefixCache cache({});
  EXPECT_EQ(cache.use(PrefixEntries{1, 2, 3}), 3);
  cache.release(PrefixEntries{1, 2, 3});
  EXPECT_EQ(cache.find(PrefixEntries{1, 2, 4, 3}), (Levels{0, 0}));
  EXPECT_EQ(cache.find(PrefixEntries{4, 1}), Levels{});
  EXPECT_EQ(cache.use(PrefixEntries{1, 2, 4}), 1);  // only block 4 is new to the pool
  EXPECT_EQ(cache.pooled(), 4);
  EXPECT_EQ(cache.evictable(), 1);  // block 3
}

TEST(PrefixCache, KeepsABlockThatOneOfTwoSequencesStillUses) {
  PrefixCache cache({});
  cache.use(PrefixEntries{1, 2});
  cache.use(PrefixEntries{1, 3});
  cache.release(PrefixEntries{1, 2});
  EXPECT_EQ(cache.evictable(), 1);
  EXPECT_EQ(cache.evict(1).freed, 1);
  EXPECT_EQ(cache.find(PrefixEntries{1, 2}), Levels{0});
  cache.release(PrefixEntries{1, 3});
  EXPECT_EQ(cache.evictable(), 2);
}

TEST(PrefixCache, TakesAPromptPieceByPiece) {
  PrefixCache cache({});
  const PrefixEntries prompt{1, 2, 3, 4};
  const std::span<const PrefixEntry> all = prompt;
  EXPECT_EQ(cache.use(all.first(1)), 1);
  EXPECT_EQ(cache.find(prompt), Levels{0});
  EXPECT_EQ(cache.use(all.subspan(1, 3)), 3);
  cache.release(all);
  EXPECT_EQ(cache.evictable(), 4);
}

TEST(PrefixCache, DropsTheLastBlockOfTheLeastRecentlyUsedPromptFirst) {
  PrefixCache cache({});
  leave(cache, {1, 2});
  leave(cache, {3, 4});
  cache.evict(1);
  EXPECT_EQ(cache.find(PrefixEntries{1, 2}), Levels{0});
  leave(cache, {1});  // now newer than 3 and 4
  cache.evict(2);
  EXPECT_EQ(cache.find(PrefixEntries{3, 4}), Levels{});
  EXPECT_EQ(cache.find(PrefixEntries{1}), Levels{0});
}

TEST(PrefixCache, MovesWhatLeavesALevelToTheNext) {
  PrefixCache cache({1, 2});
  leave(cache, {1, 2, 3, 4});
  const PrefixMoves moves = cache.evict(4);
  // 4, 3, 2, 1 are written to the first level, which holds one: 4, 3, 2 go on to the second, which
  // holds two: 4 is gone.
  EXPECT_EQ(moves.written, (Levels{0, 4, 3}));
  EXPECT_EQ(moves.freed, 4);
  EXPECT_EQ(moves.gone, 1);
  EXPECT_EQ(cache.find(PrefixEntries{1, 2, 3, 4}), (Levels{1, 2, 2}));
  EXPECT_EQ(cache.pooled(), 0);
  EXPECT_EQ(cache.held(1), 1);
  EXPECT_EQ(cache.held(2), 2);
}

TEST(PrefixCache, PassesALevelWithoutCapacityBy) {
  PrefixCache cache({0, 1});
  leave(cache, {1, 2});
  EXPECT_EQ(cache.evict(2).written, (Levels{0, 0, 2}));
  EXPECT_EQ(cache.find(PrefixEntries{1}), Levels{2});
}

TEST(PrefixCache, BringsUpWhatASequenceUsesAndGivesItsLowerCopyUp) {
  PrefixCache cache({2});
  leave(cache, {1, 2});
  cache.evict(2);
  EXPECT_EQ(cache.use(PrefixEntries{1, 2, 3}), 3);
  EXPECT_EQ(cache.held(1), 0);
  EXPECT_EQ(cache.find(PrefixEntries{1, 2, 3}), (Levels{0, 0, 0}));
  EXPECT_EQ(cache.evictable(), 0);
}

TEST(PrefixCache, SaysWhatIsStillOnItsWay) {
  PrefixCache cache({1});
  const PrefixEntries prompt{1, 2};
  leave(cache, prompt);
  cache.evict(1);  // block 2
  EXPECT_EQ(cache.find(prompt), (Levels{0, 1}));
  EXPECT_EQ(cache.idle(prompt), 1);
  EXPECT_EQ(cache.load(prompt), 1);
  EXPECT_EQ(cache.loading(prompt), 1);
  EXPECT_EQ(cache.idle(prompt), 0);
  cache.use(prompt);  // another sequence, which has to wait for it too
  EXPECT_EQ(cache.loading(prompt), 1);
  cache.arrived(prompt);
  EXPECT_EQ(cache.loading(prompt), 0);
  cache.release(prompt);
  EXPECT_EQ(cache.evictable(), 0);
  cache.release(prompt);
  EXPECT_EQ(cache.evictable(), 2);
}

TEST(PrefixCache, IsLoadedWithoutLosingWhatItsOwnRoomDisplaces) {
  // Level 1 is full of what the prompt needs; making room in the pool pushes block 9 down, but the
  // pinned ones have left level 1 already.
  PrefixCache cache({2});
  leave(cache, {1, 2});
  cache.evict(2);
  leave(cache, {9});
  const PrefixEntries prompt{1, 2};
  EXPECT_EQ(cache.load(prompt), 2);
  const PrefixMoves moves = cache.evict(1);
  EXPECT_EQ(moves.gone, 0);
  EXPECT_EQ(cache.find(prompt), (Levels{0, 0}));
  EXPECT_EQ(cache.find(PrefixEntries{9}), Levels{1});
}

// 1 came first and is used again; 2 came later. The pool drops 1 as FIFO and 2 as LRU, and so does
// the level below it of what the pool dropped: 1, 2, then 1 again by way of the pool.
TEST(PrefixCache, EachLevelHasAPolicyOfItsOwn) {
  for (const auto& [policy, first] : {std::pair{Eviction::fifo, 1U}, {Eviction::lru, 2U}}) {
    PrefixCache cache({}, {2, policy});
    leave(cache, {1});
    leave(cache, {2});
    leave(cache, {1});
    cache.evict(1);
    EXPECT_FALSE(cache.level_of(first)) << name_of(policy);
    EXPECT_TRUE(cache.level_of(3 - first)) << name_of(policy);
  }
  for (const auto& [policy, first] : {std::pair{Eviction::fifo, 1U}, {Eviction::lru, 2U}}) {
    PrefixCache cache({{2, policy}}, {8});
    for (const std::uint64_t name : {1U, 2U}) {
      leave(cache, {name});
      cache.evict(1);
    }
    cache.touch(1);  // at level 1
    leave(cache, {3});
    cache.evict(1);
    EXPECT_FALSE(cache.level_of(first)) << name_of(policy);
  }
}

TEST(PrefixCache, CountsThePromptsThatUsedAnEntryAndNoCopies) {
  PrefixCache cache({});
  EXPECT_EQ(cache.uses(1), 0);
  leave(cache, {1});
  EXPECT_EQ(cache.uses(1), 1);
  cache.hold(PrefixEntries{1});
  EXPECT_EQ(cache.evictable(), 0);
  cache.release(PrefixEntries{1});
  EXPECT_EQ(cache.uses(1), 1);
  leave(cache, {1});
  EXPECT_EQ(cache.uses(1), 2);
}

using PrefixCacheDeathTest = ::testing::Test;

TEST(PrefixCacheDeathTest, RefusesToReleaseWhatNobodyUses) {
  PrefixCache cache({});
  leave(cache, {1});
  EXPECT_DEATH(cache.release(PrefixEntries{1}), "precondition");
  EXPECT_DEATH(cache.release(PrefixEntries{2}), "precondition");
}

TEST(PrefixCacheDeathTest, RefusesToEvictWhatIsPinned) {
  PrefixCache cache({});
  cache.use(PrefixEntries{1});
  EXPECT_DEATH(cache.evict(1), "precondition");
}

TEST(PrefixCacheDeathTest, RefusesToReleaseWhatIsStillOnItsWay) {
  PrefixCache cache({1});
  leave(cache, {1});
  cache.evict(1);
  cache.load(PrefixEntries{1});
  EXPECT_DEATH(cache.release(PrefixEntries{1}), "precondition");
}

}  // namespace
}  // namespace tiersim::prefix_cache_test
