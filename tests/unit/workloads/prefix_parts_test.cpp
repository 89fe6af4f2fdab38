// The parts of named blocks that a prompt needs, worked out by hand for published models.
#include "workloads/serving/prefix_parts.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tiersim::prefix_parts_test {
namespace {

using Groups = std::vector<BlockGroup>;

PrefixBlocks names(std::int64_t count) {
  PrefixBlocks out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), std::uint64_t{100});
  return out;
}
// The stretches as "first-last" or "none"; they follow each other.
std::string range(const WindowParts& parts) {
  if (parts.empty()) return "none";
  EXPECT_EQ(parts.back().stretch - parts.front().stretch + 1,
            static_cast<std::int64_t>(parts.size()));
  return std::to_string(parts.front().stretch) + '-' + std::to_string(parts.back().stretch);
}

// gpt-oss: every other layer has a window of 128 positions, 8 stretches of 16. Named blocks of 512
// positions have 32 stretches, and of the windows the last 8 of each.
TEST(PrefixParts, OfAWindowShorterThanANamedBlockKeepItsEnd) {
  const PrefixParts parts(Groups{{.most = 8}, {}}, 16, 512);
  EXPECT_EQ(parts.whole_blocks(), 32);
  EXPECT_EQ(parts.largest(), 32);
  EXPECT_EQ(range(parts.needed(names(1))), "24-31");
  EXPECT_EQ(range(parts.needed(names(4))), "120-127");
  // All that two named blocks keep, and what of it a sequence of 1030 positions holds: its 65
  // stretches end at 64, and its window begins at 57.
  EXPECT_EQ(parts.between(names(2), 0, 0, std::nullopt).size(), 16U);
  EXPECT_EQ(range(parts.between(names(2), 0, 1030, std::nullopt)), "57-63");
  EXPECT_EQ(range(parts.between(names(2), 1, 0, 1030)), "56-56");
  EXPECT_TRUE(parts.is_held({.stretch = 57}, 1030));
  EXPECT_FALSE(parts.is_held({.stretch = 56}, 1030));
  EXPECT_EQ(parts.most_blocks(1024), 64 + 16);
  EXPECT_EQ(parts.most_blocks(100), 7 + 7);
}

// Gemma 3: a window of 1024 positions has two named blocks; of 62 layers 52 have it.
TEST(PrefixParts, OfAWindowLongerThanANamedBlockKeepAllOfIt) {
  const PrefixParts parts(Groups{{.blocks = 26, .most = 64}, {.blocks = 5}}, 16, 512);
  EXPECT_EQ(parts.whole_blocks(), 160);
  EXPECT_EQ(range(parts.needed(names(1))), "0-31");
  EXPECT_EQ(range(parts.needed(names(3))), "32-95");
  EXPECT_EQ(parts.needed(names(3)).front().blocks, 26);
  EXPECT_EQ(parts.needed(names(3)).front().name, 101U);
  EXPECT_EQ(parts.needed(names(3)).back().name, 102U);
}

// Llama 4: three of four layers attend within chunks of 8192 positions, 16 named blocks. At the end
// of a chunk nothing of it is needed any more, so that the last named block of it keeps nothing.
TEST(PrefixParts, OfAChunkReachBackToItsBeginning) {
  const PrefixParts parts(Groups{{.blocks = 3, .most = 512, .chunk = 8192}, {}}, 16, 512);
  EXPECT_EQ(range(parts.needed(names(15))), "0-479");
  EXPECT_EQ(range(parts.needed(names(16))), "none");
  EXPECT_EQ(range(parts.needed(names(17))), "512-543");
  EXPECT_EQ(parts.between(names(16), 15, 0, std::nullopt).size(), 0U);
  EXPECT_EQ(range(parts.between(names(17), 0, 8193, std::nullopt)), "512-543");
  EXPECT_EQ(parts.most_blocks(8192), 512 + 3 * 512);
  EXPECT_EQ(parts.most_blocks(8193), 513 + 3 * 2 * 512);
}

// A chunk of 24 positions in named blocks of 16: the first ends in it, the second 8 positions after
// its end, and the third where the second chunk ends.
TEST(PrefixParts, OfAChunkThatIsNoMultipleBeginWithinANamedBlock) {
  const PrefixParts parts(Groups{{.most = 6, .chunk = 24}}, 4, 16);
  EXPECT_EQ(parts.whole_blocks(), 0);
  EXPECT_EQ(range(parts.needed(names(1))), "0-3");
  EXPECT_EQ(range(parts.needed(names(2))), "6-7");
  EXPECT_EQ(range(parts.needed(names(3))), "none");
}

// Two parts of a named block are two entries, also where the windows are alike.
TEST(PrefixParts, AreDifferentEntries) {
  const PrefixParts parts(
      Groups{{}, {.most = 2}, {.most = 2}, {.blocks = 7, .most = 1, .is_state = true}}, 4, 8);
  EXPECT_EQ(parts.state_blocks(), 7);
  EXPECT_EQ(parts.largest(), 7);
  PrefixEntries all{parts.whole(100), parts.state(100)};
  for (const WindowPart& part : parts.needed(names(1))) all.push_back(parts.entry(part));
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < all.size(); ++b) EXPECT_EQ(all[a] == all[b], a == b) << a << b;
  EXPECT_EQ(blocks_of(all), 2 + 7 + 4);
}

}  // namespace
}  // namespace tiersim::prefix_parts_test
