#include "workloads/serving/prefix_copies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tiersim::prefix_copies_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Writes all that waits for a level.
PrefixEntries write(PrefixCopies& copies, std::int64_t level) {
  const auto store = copies.next(level);
  if (!store) return {};
  copies.stored(*store);
  return store->entries;
}

TEST(PrefixCopies, ABlockIsThereOnceItIsStored) {
  PrefixCopies copies({4});
  EXPECT_THAT(copies.want(PrefixEntries{1, 2}), ElementsAre(1, 2));
  EXPECT_EQ(copies.level_of(1), 0);
  const auto store = copies.next(1);
  EXPECT_EQ(store->from, 0);
  EXPECT_EQ(store->to, 1);
  EXPECT_EQ(copies.level_of(1), 0);
  EXPECT_FALSE(copies.next(1));
  copies.stored(*store);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.held(1), 2);
}

TEST(PrefixCopies, ABlockIsWrittenOnce) {
  PrefixCopies copies({4});
  copies.want(PrefixEntries{1});
  EXPECT_THAT(copies.want(PrefixEntries{1, 2}), ElementsAre(2));  // waits already
  const auto store = copies.next(1);
  EXPECT_THAT(store->entries, ElementsAre(1, 2));
  EXPECT_THAT(copies.want(PrefixEntries{1}), IsEmpty());  // on its way
  copies.stored(*store);
  EXPECT_THAT(copies.want(PrefixEntries{1}), IsEmpty());  // there
}

// Levels of 3 and 8 blocks, of which the second one alone has 1 to 4, and the first one 9.
PrefixCopies with_four_below() {
  PrefixCopies copies({3, 8});
  copies.want(PrefixEntries{1, 2, 3});
  write(copies, 1);
  write(copies, 2);
  copies.want(PrefixEntries{4, 5, 9});
  write(copies, 1);
  write(copies, 2);
  return copies;
}

// Blocks that the first level has, or is getting, are not copied again, and it takes no more than
// it holds.
TEST(PrefixCopies, RaisesWhatLowerLevelsHave) {
  PrefixCopies copies = with_four_below();
  ASSERT_EQ(copies.level_of(1), 2);
  ASSERT_EQ(copies.level_of(9), 1);
  const auto stores = copies.raise(PrefixEntries{9, 1, 2, 3});
  ASSERT_EQ(stores.size(), 1U);
  EXPECT_EQ(stores[0].from, 2);
  EXPECT_EQ(stores[0].to, 1);
  EXPECT_THAT(stores[0].entries, ElementsAre(1, 2));  // beside 9 there is no room for more
  EXPECT_THAT(copies.raise(PrefixEntries{1, 2}), IsEmpty());
  EXPECT_THAT(copies.want(PrefixEntries{1}), IsEmpty());
  EXPECT_EQ(copies.level_of(1), 2);
  copies.stored(stores[0]);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(9), 1);  // others have left the first level
  EXPECT_TRUE(copies.holds(1, 2));
  EXPECT_EQ(copies.held(1), 3);
  EXPECT_THAT(copies.raise(PrefixEntries{3}, std::vector<char>{0, 0, 1}), IsEmpty());
  EXPECT_FALSE(copies.next(2));  // it has them all
}

TEST(PrefixCopies, RaisesNothingBehindAGapOrAFullQueue) {
  PrefixCopies copies = with_four_below();
  EXPECT_THAT(copies.raise(PrefixEntries{7, 1}), IsEmpty());
  copies.limit_queue(1, 1);
  const auto stores = copies.raise(PrefixEntries{1, 2});
  ASSERT_EQ(stores.size(), 1U);
  EXPECT_THAT(stores[0].entries, ElementsAre(1));
}

PrefixLevel exclusive(std::int64_t blocks) {
  PrefixLevel out(blocks);
  out.exclusive = true;
  return out;
}

// The second level gets what leaves the first one, and gives up what is loaded from it.
TEST(PrefixCopies, AnExclusiveLevelHasWhatLeftTheOneAbove) {
  PrefixCopies copies({2, exclusive(4)});
  copies.want(PrefixEntries{1, 2});
  write(copies, 1);
  EXPECT_FALSE(copies.next(2));  // it has none of what the first one has
  copies.want(PrefixEntries{3});
  write(copies, 1);  // 2 leaves
  EXPECT_EQ(copies.level_of(2), 0);
  EXPECT_THAT(write(copies, 2), ElementsAre(2));
  EXPECT_EQ(copies.level_of(2), 2);
  copies.give_up(PrefixEntries{2});
  EXPECT_EQ(copies.level_of(2), 2);  // nothing else below the pool has it
  copies.want(PrefixEntries{2});
  copies.give_up(PrefixEntries{2});
  EXPECT_EQ(copies.level_of(2), 0);
  EXPECT_EQ(copies.held(2), 0);
}

// Block 2 is computed anew, and so written to the first level again: the second one drops its own,
// whether it is there or still on its way.
TEST(PrefixCopies, AnExclusiveLevelDropsWhatComesAbove) {
  PrefixCopies copies({2, exclusive(4)});
  copies.want(PrefixEntries{1, 2});
  write(copies, 1);
  copies.want(PrefixEntries{3});
  write(copies, 1);  // 2 leaves
  write(copies, 2);
  copies.want(PrefixEntries{2});
  write(copies, 1);  // 1 leaves
  EXPECT_EQ(copies.level_of(2), 1);
  EXPECT_FALSE(copies.holds(2, 2));
  const auto store = copies.next(2);
  EXPECT_THAT(store->entries, ElementsAre(1));
  copies.want(PrefixEntries{1});
  write(copies, 1);
  copies.stored(*store);
  EXPECT_FALSE(copies.holds(1, 2));
}

PrefixLevel shared(const std::shared_ptr<BlockCache>& cache) {
  PrefixLevel out(cache->capacity());
  out.shared = cache;
  return out;
}

// Two pools over one store of three blocks.
TEST(PrefixCopies, ASharedLevelIsOneStore) {
  const auto cache = std::make_shared<BlockCache>("lru", 3);
  PrefixCopies first({shared(cache)});
  PrefixCopies second({shared(cache)});
  first.want(PrefixEntries{1, 2});
  EXPECT_EQ(second.level_of(1), 0);  // on its way
  write(first, 1);
  EXPECT_EQ(second.level_of(1), 1);
  EXPECT_THAT(second.want(PrefixEntries{1, 2, 3}), ElementsAre(3));
  write(second, 1);
  EXPECT_EQ(first.level_of(3), 1);
  EXPECT_EQ(first.held(1), 3);
  EXPECT_EQ(second.held(1), 3);
  second.touch(PrefixEntries{2});  // 2 was stored first
  first.want(PrefixEntries{4});
  write(first, 1);
  EXPECT_EQ(second.level_of(1), 0);  // so 1 is the least recently used
  EXPECT_EQ(second.level_of(2), 1);
}

TEST(PrefixCopies, TwoPoolsMayStoreTheSameBlockAtATime) {
  const auto cache = std::make_shared<BlockCache>("lru", 3);
  PrefixCopies first({shared(cache)});
  PrefixCopies second({shared(cache)});
  EXPECT_THAT(first.want(PrefixEntries{1}), ElementsAre(1));
  EXPECT_THAT(second.want(PrefixEntries{1}), ElementsAre(1));  // nobody tells it
  write(first, 1);
  write(second, 1);
  EXPECT_EQ(cache->size(), 1);
  EXPECT_FALSE(second.is_coming(1));
}

TEST(PrefixCopies, AFullQueueTakesNothingMore) {
  PrefixCopies copies({10});
  copies.limit_queue(1, 3);
  EXPECT_THAT(copies.want(PrefixEntries{1, 2, 3, 4}), ElementsAre(1, 2, 3));
  const auto store = copies.next(1);
  EXPECT_THAT(copies.want(PrefixEntries{4}), IsEmpty());  // they are still on their way
  copies.stored(*store);
  EXPECT_THAT(copies.want(PrefixEntries{4}), ElementsAre(4));
}

TEST(PrefixCopies, AnEmptyQueueTakesAnEntryBeyondItsLimit) {
  PrefixCopies copies({10});
  copies.limit_queue(1, 1);
  const PrefixEntry large(1, 0, 3);
  EXPECT_THAT(copies.want(PrefixEntries{large, 2}), ElementsAre(large));
}

TEST(PrefixCopies, ALevelMayBePassedOver) {
  PrefixCopies copies({4, 4});
  copies.want(PrefixEntries{1});
  write(copies, 1);
  write(copies, 2);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(1, std::vector<char>{0, 1, 0}), 2);
  EXPECT_EQ(copies.level_of(1, std::vector<char>{0, 1, 1}), 0);
}

TEST(PrefixCopies, EachLevelHandsOnWhatTheNextLacks) {
  PrefixCopies copies({2, 4});
  copies.want(PrefixEntries{1, 2});
  EXPECT_THAT(write(copies, 2), IsEmpty());
  EXPECT_THAT(write(copies, 1), ElementsAre(1, 2));
  const auto store = copies.next(2);
  EXPECT_EQ(store->from, 1);
  copies.stored(*store);
  copies.want(PrefixEntries{3});
  write(copies, 1);  // 2 is the least recently used: the last of its prompt
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(2), 2);
  EXPECT_EQ(copies.level_of(3), 1);
  EXPECT_THAT(copies.want(PrefixEntries{2}), ElementsAre(2));  // no longer in the nearest level
  write(copies, 1);
  EXPECT_THAT(write(copies, 2), ElementsAre(3));  // 2 is there
}

TEST(PrefixCopies, ALevelWithoutCapacityIsLeftOut) {
  PrefixCopies copies({0, 2});
  EXPECT_THAT(copies.want(PrefixEntries{1}), ElementsAre(1));
  EXPECT_FALSE(copies.next(1));
  EXPECT_EQ(copies.next(2)->from, 0);
  EXPECT_THAT(PrefixCopies({0}).want(PrefixEntries{1}), IsEmpty());
  EXPECT_THAT(PrefixCopies({}).want(PrefixEntries{1}), IsEmpty());
}

// 1 is used again, so that the others go first, the last of a prompt before those that it builds
// on.
TEST(PrefixCopies, TheLeastRecentlyUsedGoesFirst) {
  PrefixCopies copies({3});
  copies.want(PrefixEntries{1, 2, 3});
  write(copies, 1);
  copies.touch(PrefixEntries{1});
  copies.want(PrefixEntries{4, 5});
  write(copies, 1);
  EXPECT_EQ(copies.held(1), 3);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(2), 0);
  EXPECT_EQ(copies.level_of(3), 0);
}

TEST(PrefixCopies, EachLevelHasAPolicyOfItsOwn) {
  PrefixCopies copies({{2, Eviction::fifo}, {2, Eviction::lru}});
  for (const std::uint64_t name : {1U, 2U}) {
    copies.want(PrefixEntries{name});
    write(copies, 1);
    write(copies, 2);
  }
  copies.touch(PrefixEntries{1});
  copies.want(PrefixEntries{3});
  write(copies, 1);  // 1 came first
  write(copies, 2);  // 2 was used before 1
  EXPECT_EQ(copies.level_of(1), 2);
  EXPECT_EQ(copies.level_of(2), 1);
  EXPECT_EQ(copies.level_of(3), 1);
}

TEST(PrefixCopies, TheBeginningOfAPromptThatIsTooLongStays) {
  PrefixCopies copies({2});
  copies.want(PrefixEntries{1, 2, 3, 4});
  write(copies, 1);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(2), 1);
  EXPECT_EQ(copies.level_of(3), 0);
  EXPECT_EQ(copies.held(1), 2);
}

// Stored in two pieces, the first one before the second; when the prompt's use ends, its first
// block becomes the newest.
TEST(PrefixCopies, TheEndOfAPromptLeavesFirstOnceItsUseHasEnded) {
  PrefixCopies copies({3});
  copies.want(PrefixEntries{1, 2});
  write(copies, 1);
  copies.want(PrefixEntries{3});
  write(copies, 1);
  copies.settle(PrefixEntries{1, 2, 3});
  copies.want(PrefixEntries{4});
  write(copies, 1);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(2), 1);
  EXPECT_EQ(copies.level_of(3), 0);
}

}  // namespace
}  // namespace tiersim::prefix_copies_test
