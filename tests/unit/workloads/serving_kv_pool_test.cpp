// The blocks of a replica: a pool of 10, prefix entries of 2 blocks each.
#include "workloads/serving/kv_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tiersim::serving_kv_pool_test {
namespace {

using Moves = std::vector<BlockMove>;

// "prefix_store 4: 0 to 1" each.
std::vector<std::string> text(const Moves& moves) {
  std::vector<std::string> out;
  for (const BlockMove& m : moves)
    out.push_back(std::string(kMoveKindNames[static_cast<std::size_t>(m.kind)]) + ' ' +
                  std::to_string(m.blocks) + ": " + std::to_string(m.from) + " to " +
                  std::to_string(m.to));
  return out;
}
using Text = std::vector<std::string>;

KvPool pool(std::vector<std::int64_t> levels, WritePolicy policy = WritePolicy::write_back) {
  // The levels hold whole entries.
  for (std::int64_t& level : levels) level *= 2;
  return KvPool(10, KvPool::Prefixes{.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8),
                                     .levels = {levels.begin(), levels.end()},
                                     .write_policy = policy});
}
KvPool through(std::vector<std::int64_t> levels) {
  return pool(std::move(levels), WritePolicy::write_through);
}

// A sequence that made these entries and has ended.
void leave_behind(KvPool& of, const PrefixBlocks& prefix) {
  Moves moves;
  ASSERT_TRUE(of.take(static_cast<std::int64_t>(prefix.size()) * 2, moves));
  of.share(prefix);
  of.release(prefix);
}

TEST(KvPool, GivesWhatItHasAndNoMore) {
  KvPool blocks(10, std::nullopt);
  Moves moves;
  EXPECT_TRUE(blocks.take(7, moves));
  EXPECT_FALSE(blocks.take(4, moves));
  EXPECT_EQ(blocks.used(), 7);
  EXPECT_TRUE(blocks.take(3, moves));
  EXPECT_EQ(blocks.available(), 0);
  blocks.give(10);
  EXPECT_EQ(blocks.available(), 10);
  EXPECT_TRUE(moves.empty());
  EXPECT_FALSE(blocks.has_prefixes());
}

TEST(KvPool, CountsPrefixesThatNobodyUsesAsAvailable) {
  KvPool blocks = pool({});
  leave_behind(blocks, {1, 2, 3});
  EXPECT_EQ(blocks.used(), 0);
  EXPECT_EQ(blocks.occupied(), 6);
  EXPECT_EQ(blocks.available(), 10);
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 4}).entries, 2);
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 4}).idle, 4);
}

TEST(KvPool, LosesTheEndOfAPrefixFirst) {
  KvPool blocks = pool({});
  leave_behind(blocks, {1, 2, 3});
  Moves moves;
  EXPECT_TRUE(blocks.take(5, moves));  // 4 are free, so one entry goes
  EXPECT_TRUE(moves.empty());          // to nowhere
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 3}).entries, 2);
  EXPECT_EQ(blocks.occupied(), 9);
}

TEST(KvPool, StoresWhatLeavesInTheNextLevelAndThatOnesOldestBelowIt) {
  KvPool blocks = pool({1, 4});
  leave_behind(blocks, {1, 2, 3});
  Moves moves;
  EXPECT_TRUE(blocks.take(8, moves));  // 3 and then 2 go; 2 displaces 3
  EXPECT_EQ(text(moves), (Text{"prefix_store 4: 0 to 1", "prefix_store 2: 1 to 2"}));
  EXPECT_EQ(blocks.below(1), 2);
  EXPECT_EQ(blocks.below(2), 2);
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 3}).entries, 3);
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 3}).below, 4);
}

// A tier may be smaller than one entry.
TEST(KvPool, StoresPastALevelWithoutRoom) {
  KvPool blocks = pool({0, 4});
  leave_behind(blocks, {1, 2});
  Moves moves;
  EXPECT_TRUE(blocks.take(10, moves));
  EXPECT_EQ(text(moves), (Text{"prefix_store 4: 0 to 2"}));
}

TEST(KvPool, LoadsFromEachLevelWhatItHolds) {
  KvPool blocks = pool({1, 4});
  leave_behind(blocks, {1, 2, 3});
  Moves moves;
  EXPECT_TRUE(blocks.take(8, moves));  // 1 stays, 2 is in level 1 and 3 in level 2
  blocks.give(8);
  moves.clear();
  const PrefixBlocks prompt{1, 2, 3};
  blocks.pin(prompt, moves);
  EXPECT_EQ(text(moves), (Text{"prefix_load 2: 1 to 0", "prefix_load 2: 2 to 0"}));
  EXPECT_EQ(blocks.used(), 6);
  EXPECT_TRUE(blocks.is_loading(prompt));
  EXPECT_FALSE(blocks.is_loading(PrefixBlocks{1}));
  blocks.arrived(PrefixEntries{1, 2, 3});
  EXPECT_FALSE(blocks.is_loading(prompt));
  blocks.release(prompt);
  EXPECT_EQ(blocks.used(), 0);
}

TEST(KvPool, KeepsOneOfTwoCopiesThatWereMadeAtTheSameTime) {
  KvPool blocks = pool({});
  Moves moves;
  EXPECT_TRUE(blocks.take(4, moves));  // of two sequences with the same prompt
  EXPECT_TRUE(blocks.take(4, moves));
  blocks.share(PrefixBlocks{1, 2});
  EXPECT_EQ(blocks.used(), 8);
  blocks.share(PrefixBlocks{1, 2});
  EXPECT_EQ(blocks.used(), 4);
  blocks.release(PrefixBlocks{1, 2});
  EXPECT_EQ(blocks.used(), 4);  // of the other
  blocks.release(PrefixBlocks{1, 2});
  EXPECT_EQ(blocks.used(), 0);
}

// One sequence computes what it did not find, while another left the same behind; that sank, and a
// third one loads it.
TEST(KvPool, NeedsNoLoadOfWhatHasJustBeenComputed) {
  KvPool blocks = pool({4});
  Moves moves;
  ASSERT_TRUE(blocks.take(2, moves));  // of who computes 1
  leave_behind(blocks, {1});
  ASSERT_TRUE(blocks.take(8, moves));
  EXPECT_EQ(text(moves), (Text{"prefix_store 2: 0 to 1"}));
  blocks.give(8);
  blocks.pin(PrefixBlocks{1}, moves);
  EXPECT_TRUE(blocks.is_loading(PrefixBlocks{1}));
  blocks.share(PrefixBlocks{1});
  EXPECT_FALSE(blocks.is_loading(PrefixBlocks{1}));
  blocks.release(PrefixBlocks{1});   // by the one that computed it
  blocks.arrived(PrefixEntries{1});  // the load is done all the same
  EXPECT_EQ(blocks.used(), 2);
  blocks.release(PrefixBlocks{1});
  EXPECT_EQ(blocks.used(), 0);
}

// Write-through: what leaves the pool is below already, so that nothing is copied then.
TEST(KvPool, WritesThroughOnceBlocksAreComputed) {
  KvPool blocks = through({2});
  leave_behind(blocks, {1, 2, 3});
  const auto store = blocks.next_store(1);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->entries, (PrefixEntries{1, 2, 3}));
  EXPECT_EQ(blocks.below(1), 0);
  EXPECT_EQ(blocks.used(), 6);  // until they are stored
  blocks.stored(*store);
  EXPECT_EQ(blocks.used(), 0);
  EXPECT_EQ(blocks.below(1), 4);
  Moves moves;
  EXPECT_TRUE(blocks.take(8, moves));  // 3 and then 2 go
  EXPECT_TRUE(moves.empty());
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 3}).entries, 2);  // 3 is nowhere
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2, 3}).below, 2);
}

TEST(KvPool, ALoadLeavesTheCopyBelow) {
  KvPool blocks = through({4});
  leave_behind(blocks, {1, 2});
  blocks.stored(*blocks.next_store(1));
  Moves moves;
  EXPECT_TRUE(blocks.take(10, moves));
  blocks.give(10);
  EXPECT_EQ(blocks.find(PrefixBlocks{1, 2}).below, 4);
  blocks.pin(PrefixBlocks{1, 2}, moves);
  EXPECT_EQ(text(moves), Text{"prefix_load 4: 1 to 0"});
  EXPECT_TRUE(blocks.is_loading(PrefixBlocks{1, 2}));
  EXPECT_EQ(blocks.below(1), 4);
  blocks.arrived(PrefixEntries{1, 2});
  EXPECT_FALSE(blocks.next_store(1));  // it has them
  blocks.release(PrefixBlocks{1, 2});
  EXPECT_EQ(blocks.used(), 0);
}

// The only copy below is evicted; when the block is used again, it is written again.
TEST(KvPool, WritesAgainWhatALevelHasLost) {
  KvPool blocks = through({1});
  leave_behind(blocks, {1});
  blocks.stored(*blocks.next_store(1));
  leave_behind(blocks, {2});
  blocks.stored(*blocks.next_store(1));
  Moves moves;
  blocks.pin(PrefixBlocks{1}, moves);
  EXPECT_TRUE(moves.empty());
  EXPECT_EQ(blocks.next_store(1)->entries, (PrefixEntries{1}));
}

// From the second level to the pool; the first one gets it from there.
TEST(KvPool, ABlockFromFarBelowGoesToTheNearerLevelToo) {
  KvPool blocks = through({1, 4});
  leave_behind(blocks, {1});
  blocks.stored(*blocks.next_store(1));
  blocks.stored(*blocks.next_store(2));
  leave_behind(blocks, {2});
  blocks.stored(*blocks.next_store(1));
  Moves moves;
  EXPECT_TRUE(blocks.take(10, moves));
  blocks.give(10);
  EXPECT_EQ(blocks.find(PrefixBlocks{1}).below, 2);
  blocks.pin(PrefixBlocks{1}, moves);
  EXPECT_EQ(text(moves), Text{"prefix_load 2: 2 to 0"});
  EXPECT_EQ(blocks.next_store(2)->entries, (PrefixEntries{2}));
  EXPECT_FALSE(blocks.next_store(1));
  blocks.arrived(PrefixEntries{1});
  EXPECT_EQ(blocks.next_store(1)->entries, (PrefixEntries{1}));
}

// Under write_through_selective the first prompt leaves nothing below, and the second one does.
TEST(KvPool, ASecondUseIsWhatStoresABlock) {
  KvPool of = pool({4}, WritePolicy::write_through_selective);
  leave_behind(of, {1, 2});
  EXPECT_FALSE(of.next_store(1));
  Moves moves;
  of.pin(PrefixBlocks{1}, moves);
  const auto store = of.next_store(1);
  ASSERT_TRUE(store);
  EXPECT_THAT(store->entries, ::testing::ElementsAre(PrefixEntry(1)));
  of.stored(*store);
  of.release(PrefixBlocks{1});
  EXPECT_EQ(of.below(1), 2);  // one entry of two blocks
  EXPECT_EQ(of.used(), 0);
}

// Both prompts were used once. A block of the longer one takes longer to compute again, so GDSF
// keeps the longer prompt although it is older.
TEST(KvPool, GdsfKeepsTheLongerPrompt) {
  for (const auto& [eviction, kept] : {std::pair{Eviction::gdsf, 1U}, {Eviction::lru, 9U}}) {
    KvPool of(8, KvPool::Prefixes{.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8),
                                  .eviction = eviction,
                                  .cost_growth = 0.1});
    leave_behind(of, {1, 2, 3});
    leave_behind(of, {9});
    Moves moves;
    ASSERT_TRUE(of.take(2, moves));
    EXPECT_EQ(of.level_of(9).has_value(), kept == 9) << name_of(eviction);
    EXPECT_EQ(of.level_of(3).has_value(), kept == 1) << name_of(eviction);
  }
}

// Without room for what nobody uses, a block is in the lower level alone once it is stored there.
TEST(KvPool, APoolThatKeepsNothingLeavesBlocksToTheLevelBelow) {
  KvPool of(10, KvPool::Prefixes{.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8),
                                 .levels = {8},
                                 .keep_in_pool = false});
  leave_behind(of, {1, 2});
  EXPECT_EQ(of.occupied(), 4);  // on their way
  const auto store = of.next_store(1);
  ASSERT_TRUE(store);
  of.stored(*store);
  EXPECT_EQ(of.occupied(), 0);
  const KvPool::Found found = of.find(PrefixBlocks{1, 2});
  EXPECT_EQ(found.entries, 2);
  EXPECT_EQ(found.below, 4);
  const KvPool::Load load = of.load_of(PrefixBlocks{1, 2});
  EXPECT_EQ(load.pooled, 0);
  EXPECT_THAT(load.from, ::testing::ElementsAre(0, 4));
}

// A prompt is computed in two pieces. Whatever the policy, its last block is of no use without the
// others, and leaves first.
TEST(KvPool, TheLastBlockOfAPromptThatWasComputedInPiecesLeavesFirst) {
  for (std::size_t k = 0; k < kEvictionNames.size(); ++k) {
    KvPool of(8, KvPool::Prefixes{.parts = PrefixParts(std::vector<BlockGroup>{{}}, 4, 8),
                                  .eviction = static_cast<Eviction>(k),
                                  .cost_growth = 0.5});
    Moves moves;
    ASSERT_TRUE(of.take(8, moves));
    const PrefixBlocks names{1, 2, 3, 4};
    of.share(PrefixPins(std::span(names).first(2)));
    of.share(PrefixPins(names, {}, 2));
    of.release(names);
    for (std::uint64_t last = 4; last > 1; --last) {
      ASSERT_TRUE(of.take(2, moves));
      EXPECT_FALSE(of.level_of(last)) << kEvictionNames[k];
      EXPECT_TRUE(of.level_of(last - 1)) << kEvictionNames[k];
    }
  }
}

}  // namespace
}  // namespace tiersim::serving_kv_pool_test
