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

TEST(PrefixCopies, TheBeginningOfAPromptThatIsTooLongStays) {
  PrefixCopies copies({2});
  copies.want(PrefixEntries{1, 2, 3, 4});
  write(copies, 1);
  EXPECT_EQ(copies.level_of(1), 1);
  EXPECT_EQ(copies.level_of(2), 1);
  EXPECT_EQ(copies.level_of(3), 0);
  EXPECT_EQ(copies.held(1), 2);
}

}  // namespace
}  // namespace tiersim::prefix_copies_test
