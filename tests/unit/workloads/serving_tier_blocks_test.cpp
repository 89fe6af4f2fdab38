// Tiers below the pool whose blocks are longer than named ones: prefix entries of 2 blocks each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/serving/kv_pool.hpp"

namespace tiersim::serving_tier_blocks_test {
namespace {

using Moves = std::vector<BlockMove>;

// A sequence that made these entries and has ended.
void leave_behind(KvPool& of, const PrefixBlocks& prefix) {
  Moves moves;
  ASSERT_TRUE(of.take(static_cast<std::int64_t>(prefix.size()) * 2, moves));
  of.share(prefix);
  of.release(prefix);
}

// Blocks of lower tiers that hold `names` named blocks each.
KvPool with_tier_blocks(std::int64_t names, const std::vector<std::int64_t>& levels,
                        WritePolicy policy = WritePolicy::write_through) {
  std::vector<PrefixLevel> of;
  for (const std::int64_t level : levels) of.emplace_back(level * 2).names = names;
  return KvPool(16, KvPool::Prefixes{.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8),
                                     .levels = of,
                                     .write_policy = policy});
}

// The last named block of one of a tier that has two.
PrefixEntry last_of_two(std::uint64_t name) {
  PrefixEntry out(name, 0, 2);
  out.fills = 1;
  out.longer[0] = name;
  return out;
}

// Stores what waits for a level; returns its blocks.
std::int64_t store_all(KvPool& of, std::int64_t level) {
  const auto store = of.next_store(level);
  if (!store) return 0;
  of.stored(*store);
  return blocks_of(store->entries);
}

TEST(TierBlocks, StoresALongBlockOnceThePoolHasAllOfIt) {
  KvPool of = with_tier_blocks(2, {8, 8});
  const PrefixBlocks prompt{1, 2, 3, 4, 5};  // the third block of a tier is not full
  Moves moves;
  ASSERT_TRUE(of.take(10, moves));
  of.share(LeadingNames(prompt).first(1));
  EXPECT_FALSE(of.next_store(1));
  of.share(PrefixPins(LeadingNames(prompt).first(3), {}, 1));
  EXPECT_EQ(of.storing(), 4);  // both halves of the first one
  EXPECT_EQ(store_all(of, 1), 4);
  EXPECT_EQ(of.storing(), 0);
  of.share(PrefixPins(prompt, {}, 3));
  EXPECT_EQ(store_all(of, 1), 4);
  EXPECT_EQ(of.below(1), 8);
  EXPECT_EQ(store_all(of, 2), 8);
  EXPECT_EQ(of.below(2), 8);
  EXPECT_FALSE(of.next_store(1));
  of.release(prompt);
  EXPECT_EQ(of.used(), 0);
  EXPECT_TRUE(of.holds(last_of_two(2), 1));
  EXPECT_FALSE(of.holds(last_of_two(5), 1));
}

TEST(TierBlocks, FindsALongBlockOnlyForAPromptThatHasAllOfIt) {
  KvPool of = with_tier_blocks(2, {8});
  const PrefixBlocks prompt{1, 2, 3, 4};
  leave_behind(of, prompt);
  EXPECT_EQ(store_all(of, 1), 8);
  Moves moves;
  ASSERT_TRUE(of.take(16, moves));  // the pool keeps nothing
  of.give(16);
  EXPECT_EQ(of.find(prompt).entries, 4);
  EXPECT_EQ(of.find(prompt).below, 8);
  EXPECT_EQ(of.find(PrefixBlocks{1, 2, 3, 9}).entries, 2);
  EXPECT_EQ(of.find(PrefixBlocks{1, 2, 3}).entries, 2);
  EXPECT_EQ(of.find(PrefixBlocks{1, 9}).entries, 0);
  // The last position is computed, so that a prompt uses three names of the four that it has.
  EXPECT_EQ(of.find(LeadingNames(prompt).first(3)).entries, 3);
  moves.clear();
  const PrefixEntries loads = of.pin(LeadingNames(prompt).first(3), moves);
  ASSERT_EQ(moves.size(), 1);
  EXPECT_EQ(moves[0].kind, MoveKind::prefix_load);
  EXPECT_EQ(moves[0].blocks, 6);
  EXPECT_EQ(moves[0].from, 1);
  of.arrived(loads, LeadingNames(prompt).first(3));
  EXPECT_FALSE(of.next_store(1));  // it is there
  of.release(LeadingNames(prompt).first(3));
  EXPECT_EQ(of.load_of(prompt).from, (std::vector<std::int64_t>{0, 2}));
}

TEST(TierBlocks, AShortTierLosesWholeBlocksOfItsOwn) {
  KvPool of = with_tier_blocks(2, {2});
  leave_behind(of, {1, 2});
  EXPECT_EQ(store_all(of, 1), 4);
  leave_behind(of, {5, 6});
  EXPECT_EQ(store_all(of, 1), 4);
  EXPECT_EQ(of.below(1), 4);
  EXPECT_FALSE(of.holds(last_of_two(2), 1));
  EXPECT_TRUE(of.holds(last_of_two(6), 1));
  // One that is smaller than a block of the tiers keeps nothing.
  KvPool small = with_tier_blocks(4, {3});
  leave_behind(small, {1, 2, 3, 4});
  EXPECT_FALSE(small.next_store(1));
}

// Two prompts that part within a long block: each has its own copy of what they share.
TEST(TierBlocks, LongBlocksThatPartWithinHaveACopyEach) {
  KvPool of = with_tier_blocks(2, {8});
  const PrefixBlocks first{1, 2};
  const PrefixBlocks second{1, 3};
  leave_behind(of, first);
  Moves moves;
  ASSERT_TRUE(of.take(2, moves));
  of.pin(LeadingNames(second).first(1), moves);
  of.share(PrefixPins(second, {}, 1));
  of.release(second);
  EXPECT_EQ(store_all(of, 1), 8);
  EXPECT_EQ(of.below(1), 8);
  EXPECT_EQ(of.occupied(), 6);
}

// An entry that is discarded while two long blocks that share it are being stored leaves the pool
// with the second store.
TEST(TierBlocks, ADiscardedEntryLeavesWithTheLastStoreThatHoldsIt) {
  KvPool of = with_tier_blocks(2, {8, 8});
  const PrefixBlocks first{1, 2};
  const PrefixBlocks second{1, 3};
  Moves moves;
  ASSERT_TRUE(of.take(4, moves));
  of.share(first);
  const auto one = of.next_store(1);
  ASSERT_TRUE(one);
  of.pin(LeadingNames(second).first(1), moves);
  ASSERT_TRUE(of.take(2, moves));
  of.share(PrefixPins(second, {}, 1));
  of.release(first);
  of.discard(second, moves);
  EXPECT_EQ(of.occupied(), 6);  // the stores hold all of them
  of.stored(*one);
  EXPECT_EQ(of.level_of(PrefixEntry(1, 0, 2)), 0);  // the other store holds it
  EXPECT_EQ(store_all(of, 1), 4);
  EXPECT_EQ(of.occupied(), 2);  // of 2, which nobody discarded
}

// A prompt uses all of its names but the last one. That is idle in the pool and counts as room for
// the prompt's own blocks, so no store may take it.
TEST(TierBlocks, NoStoreHoldsWhatNoSequenceUses) {
  KvPool of = with_tier_blocks(2, {2});
  const PrefixBlocks prompt{1, 2};
  leave_behind(of, prompt);
  EXPECT_EQ(store_all(of, 1), 4);
  leave_behind(of, {5, 6});
  EXPECT_EQ(store_all(of, 1), 4);  // the tier has lost 1 and 2, and the pool has them
  Moves moves;
  of.pin(LeadingNames(prompt).first(1), moves);
  EXPECT_EQ(of.available(), 14);
  EXPECT_EQ(of.storing(), 0);
  of.pin(PrefixPins(prompt, {}, 1), moves);  // now it is used, and stored again
  EXPECT_EQ(store_all(of, 1), 4);
  of.release(prompt);
  EXPECT_EQ(of.used(), 0);
}

// Blocks of one, of two and of two names: where nobody says whose prompt it is, no longer block is
// put together.
TEST(TierBlocks, WithoutAPromptNoLongerBlockIsAwaited) {
  std::vector<PrefixLevel> levels{PrefixLevel(4), PrefixLevel(4)};
  levels[1].names = 2;
  PrefixCopies copies(levels);
  PrefixEntry first(1);
  first.fills = 1;
  first.longer[0] = 2;
  copies.want({&first, 1});
  copies.stored(*copies.next(1));
  EXPECT_FALSE(copies.next(2));
}

// Under the selective policy every name of it must have been used twice.
TEST(TierBlocks, ALongBlockIsStoredAtTheSecondUseOfAllOfIt) {
  KvPool of = with_tier_blocks(2, {8}, WritePolicy::write_through_selective);
  const PrefixBlocks prompt{1, 2};
  leave_behind(of, prompt);
  EXPECT_FALSE(of.next_store(1));
  Moves moves;
  of.pin(LeadingNames(prompt).first(1), moves);
  of.release(LeadingNames(prompt).first(1));
  EXPECT_FALSE(of.next_store(1));
  of.pin(prompt, moves);
  EXPECT_EQ(store_all(of, 1), 4);
  of.release(prompt);
}

// Blocks of two, and of four names: the second level gets one once the first has both of its
// halves.
KvPool with_two_sizes(std::int64_t nearest = 2, std::int64_t blocks = 16) {
  std::vector<PrefixLevel> levels{PrefixLevel(blocks), PrefixLevel(16)};
  levels[0].names = nearest;
  levels[1].names = 4;
  return KvPool(16, KvPool::Prefixes{.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8),
                                     .levels = levels});
}

TEST(TierBlocks, EachTierHasBlocksOfItsOwnSize) {
  for (const std::int64_t nearest : {1, 2, 4}) {
    KvPool of = with_two_sizes(nearest);
    const PrefixBlocks prompt{1, 2, 3, 4, 5, 6};
    Moves moves;
    ASSERT_TRUE(of.take(12, moves));
    of.share(LeadingNames(prompt).first(2));
    const std::int64_t first = store_all(of, 1);
    EXPECT_EQ(first, nearest == 4 ? 0 : 4) << nearest;
    EXPECT_FALSE(of.next_store(2)) << nearest;
    of.share(PrefixPins(prompt, {}, 2));
    EXPECT_EQ(first + store_all(of, 1), nearest == 4 ? 8 : 12) << nearest;
    const auto store = of.next_store(2);  // 5 and 6 do not fill one of its blocks
    ASSERT_TRUE(store) << nearest;
    EXPECT_EQ(store->from, 1);
    EXPECT_EQ(store->entries, PrefixEntries{4});
    of.stored(*store);
    EXPECT_EQ(of.below(2), 8);
    EXPECT_TRUE(of.holds(of.parts().whole(4), 0));
    of.release(prompt);
    EXPECT_EQ(of.used(), 0);
  }
}

// A prompt that has three of the four names finds what the nearer tier has of them.
TEST(TierBlocks, FindsAPromptInTheTierWhoseBlocksItFills) {
  KvPool of = with_two_sizes();
  leave_behind(of, {1, 2, 3, 4});
  EXPECT_EQ(store_all(of, 1), 8);
  EXPECT_EQ(store_all(of, 2), 8);
  leave_behind(of, {11, 12, 13, 14});
  EXPECT_EQ(store_all(of, 1), 8);
  leave_behind(of, {21, 22});  // the first level, of four of its blocks, loses 3 and 4
  EXPECT_EQ(store_all(of, 1), 4);
  Moves moves;
  ASSERT_TRUE(of.take(16, moves));  // the pool keeps nothing
  of.give(16);
  EXPECT_EQ(of.find(PrefixBlocks{1, 2, 3}).entries, 2);
  EXPECT_EQ(of.load_of(PrefixBlocks{1, 2, 3, 4}).from, (std::vector<std::int64_t>{0, 4, 4}));
  EXPECT_EQ(of.find(PrefixBlocks{1, 2, 3, 9}).entries, 2);
  // And it raises the half that the nearest one has lost.
  const auto raised = of.raise(PrefixBlocks{1, 2, 3, 4});
  ASSERT_EQ(raised.size(), 1);
  EXPECT_EQ(raised[0].from, 2);
  EXPECT_EQ(raised[0].entries, PrefixEntries{4});
  EXPECT_EQ(blocks_of(raised[0].entries), 4);
}

// One half leaves the first level before the other one comes to it.
TEST(TierBlocks, ABlockWhosePartIsLostIsNotCopiedDown) {
  KvPool of = with_two_sizes(2, 8);
  const PrefixBlocks prompt{1, 2, 3, 4};
  Moves moves;
  ASSERT_TRUE(of.take(8, moves));
  of.share(LeadingNames(prompt).first(2));
  const auto first = of.next_store(1);
  ASSERT_TRUE(first);
  of.share(PrefixPins(prompt, {}, 2));  // awaits both halves
  of.stored(*first);
  const auto second = of.next_store(1);
  ASSERT_TRUE(second);
  leave_behind(of, {11, 12});
  leave_behind(of, {21, 22});
  EXPECT_EQ(store_all(of, 1), 8);  // the first level, of two of its blocks, loses 1 and 2
  of.stored(*second);
  EXPECT_FALSE(of.next_store(2));
  of.release(prompt);
  // Once it is used again, and both halves are there, it is.
  leave_behind(of, {31, 32});
  EXPECT_EQ(store_all(of, 1), 4);
}

}  // namespace
}  // namespace tiersim::serving_tier_blocks_test
