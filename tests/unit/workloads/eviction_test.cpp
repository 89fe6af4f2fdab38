#include "workloads/eviction/eviction_policy.hpp"

#include <map>
#include <unordered_map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "workloads/eviction/block_cache.hpp"
#include "workloads/eviction/block_index.hpp"

namespace tiersim::eviction_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<Visit> prompt(std::initializer_list<std::uint64_t> names) {
  std::vector<Visit> out;
  for (const std::uint64_t name : names) out.push_back({.key = name});
  return out;
}

// Hits of prompts of one block each.
std::vector<std::int64_t> hits(std::string_view policy, std::int64_t capacity,
                               std::initializer_list<std::uint64_t> names) {
  BlockCache cache(policy, capacity);
  std::vector<std::int64_t> out;
  for (const std::uint64_t name : names) out.push_back(cache.look_up(prompt({name})));
  return out;
}

TEST(Eviction, LibraryHasTheseAndServersGetThoseWithoutAFuture) {
  EXPECT_THAT(eviction_library().names(),
              ElementsAre("arc", "belady", "fifo", "gdsf", "lfu", "lru", "s3_fifo", "sieve"));
  std::vector<std::string_view> of_servers;
  for (const auto& [name, kind] : eviction_library().entries())
    if (!kind.needs_future) of_servers.push_back(name);
  EXPECT_THAT(of_servers, ElementsAreArray(kEvictionNames));
}

// 1 is used again before 3 comes: LRU and LFU drop 2, FIFO drops 1.
TEST(Eviction, UseMattersToLruAndLfuAndNotToFifo) {
  EXPECT_THAT(hits("lru", 2, {1, 2, 1, 3, 1}), ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(hits("lfu", 2, {1, 2, 1, 3, 1}), ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(hits("fifo", 2, {1, 2, 1, 3, 1}), ElementsAre(0, 0, 1, 0, 0));
}

// 1 is used three times and then never: LFU keeps it, LRU drops it.
TEST(Eviction, LfuKeepsWhatWasUsedOften) {
  EXPECT_THAT(hits("lru", 2, {1, 1, 1, 2, 3, 2, 3}), ElementsAre(0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(hits("lfu", 2, {1, 1, 1, 2, 3, 2, 3}), ElementsAre(0, 1, 1, 0, 0, 0, 0));
}

// GDSF drops the cheaper one of two that were used once; with time the dear one ages: after 2 has
// left with H = 1, 3 enters with H = 1 + 1 and so on, up to the 4 of the dear one.
TEST(Eviction, GdsfKeepsWhatIsDearToComputeUntilItIsOld) {
  BlockCache cache("gdsf", 2);
  const auto visit = [&](std::uint64_t key, double cost) {
    const Visit v{.key = key, .cost = cost};
    return cache.look_up({&v, 1});
  };
  visit(1, 3.5);
  visit(2, 1);
  visit(3, 1);  // 2 leaves, L = 1
  EXPECT_TRUE(cache.contains(1));
  visit(4, 1);  // 3 leaves, L = 2
  visit(5, 1);  // 4 leaves, L = 3
  EXPECT_TRUE(cache.contains(1));
  visit(6, 1);  // 1 with 3.5 against 5 with 4: 1 leaves
  EXPECT_FALSE(cache.contains(1));
  EXPECT_TRUE(cache.contains(5));
}

// The hand takes the mark of 1 and drops 2.
TEST(Eviction, SieveDropsTheOldestWithoutAMark) {
  EXPECT_THAT(hits("sieve", 2, {1, 2, 1, 3, 1, 2}), ElementsAre(0, 0, 1, 0, 1, 0));
}

// Room for 10: one in the small queue. 1 is used twice more and moves to the main queue when the
// cache is full; a scan of 20 others does not drop it, while LRU loses it.
TEST(Eviction, AScanDoesNotDropWhatS3FifoSawAgain) {
  for (const auto& [policy, kept] :
       std::map<std::string, bool>{{"s3_fifo", true}, {"lru", false}}) {
    BlockCache cache(policy, 10);
    for (const std::uint64_t key : {1U, 1U, 1U}) cache.look_up(prompt({key}));
    for (std::uint64_t key = 100; key < 120; ++key) cache.look_up(prompt({key}));
    EXPECT_EQ(cache.contains(1), kept) << policy;
  }
}

// Of 1, 2, 3 with room for 2, the one that comes again last leaves, or is not admitted.
TEST(Eviction, BeladyKeepsWhatComesAgainFirst) {
  BlockCache cache("belady", 2);
  const auto visit = [&](std::uint64_t key, std::int64_t next) {
    const Visit v{.key = key, .next = next};
    return cache.look_up({&v, 1});
  };
  visit(1, 5);
  visit(2, 4);
  visit(3, 3);  // 1 leaves
  EXPECT_FALSE(cache.contains(1));
  visit(4, 9);  // comes again later than both
  EXPECT_FALSE(cache.contains(4));
  EXPECT_EQ(visit(3, Visit::kNever), 1);
  EXPECT_EQ(visit(2, Visit::kNever), 1);
}

TEST(Eviction, OnlyTheBlocksUpToTheFirstMissingOneAreFound) {
  BlockCache cache("lru", 4);
  EXPECT_EQ(cache.look_up(prompt({1, 2, 3})), 0);
  EXPECT_EQ(cache.look_up(prompt({1, 2, 9})), 2);
  EXPECT_EQ(cache.look_up(prompt({7, 2, 9})), 0);
  EXPECT_EQ(cache.size(), 4);
}

// A prompt that is longer than the cache leaves its first blocks.
TEST(Eviction, TheLastBlockOfAPromptLeavesFirst) {
  for (const std::string_view policy : kEvictionNames) {
    BlockCache cache(policy, 2);
    cache.look_up(prompt({1, 2, 3}));
    EXPECT_TRUE(cache.contains(1)) << policy;
    EXPECT_FALSE(cache.contains(3)) << policy;
  }
}

// A visit of 3 blocks needs the room of several; one beyond the capacity never comes in.
TEST(Eviction, RoomIsCountedInBlocks) {
  for (const std::string_view policy : kEvictionNames) {
    BlockCache cache(policy, 4);
    for (std::uint64_t key = 1; key <= 4; ++key) cache.add({.key = key});
    std::vector<std::uint64_t> left;
    cache.add({.key = 9, .blocks = 3}, &left);
    EXPECT_TRUE(cache.contains(9)) << policy;
    EXPECT_GE(left.size(), 3U) << policy;
    EXPECT_LE(cache.size(), 4) << policy;
    cache.add({.key = 10, .blocks = 5});
    EXPECT_FALSE(cache.contains(10)) << policy;
  }
}

TEST(Eviction, WhatIsHeldStaysAndMayLeaveOnceItIsReleased) {
  for (const std::string_view name : kEvictionNames) {
    const auto policy = make_eviction(name, 3);
    for (Place place = 0; place < 3; ++place)
      policy->insert(place, {.key = static_cast<std::uint64_t>(place)});
    policy->hold(0);
    policy->hold(1);
    std::vector<Place> out;
    policy->evict(nullptr, out);
    EXPECT_THAT(out, ElementsAre(2)) << name;
    policy->evict(nullptr, out);
    EXPECT_EQ(out.size(), 1U) << name;  // all are held
    policy->release(1, {.key = 1});
    policy->evict(nullptr, out);
    EXPECT_THAT(out, ElementsAre(2, 1)) << name;
    policy->remove(0);  // while it is held
    policy->insert(0, {.key = 7});
    policy->evict(nullptr, out);
    EXPECT_THAT(out, ElementsAre(2, 1, 0)) << name;
  }
}

TEST(BlockIndex, IsAMap) {
  Rng rng(7, "index");
  BlockIndex index;
  std::unordered_map<std::uint64_t, Place> map;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t name = rng.below(500) * (i % 2 == 0 ? 1 : 0x100000000U);
    const auto known = map.find(name);
    ASSERT_EQ(index.find(name), known == map.end() ? kNowhere : known->second) << i;
    if (known == map.end()) {
      index.insert(name, i);
      map[name] = i;
    } else if (rng.below(2) == 0) {
      index.erase(name);
      map.erase(known);
    }
    ASSERT_EQ(index.size(), map.size());
  }
  for (const auto& [name, place] : map) EXPECT_EQ(index.find(name), place);
}

}  // namespace
}  // namespace tiersim::eviction_test
