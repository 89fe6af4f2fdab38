// Planted mistake           caught by
// copies_waited_late        late landing: poison, or the keys of an older tile
// ring_overwritten          early landing
// no_barrier_before_tile    greedy_warp: queries are read before others have stored them
// no_relu                   any schedule
// no_tail_mask              any schedule, at a length that ends within a tile
#include "kernels/cases/indexer_scores_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::indexer_scores_test {
namespace {

template <class Subject>
MakeCase subject(const IndexerShape& shape) {
  return [=] { return std::make_unique<Subject>(shape); };
}

IndexerShape shape_of(std::vector<int> lengths, int context, int blocks) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = context,
          .blocks = blocks,
          .lengths = lengths};
}

// Every number e4m3 by its definition: 1.5 = 2^0 (1 + 4 / 8), the least is 2^-9, the largest 448.
TEST(E4m3, HasItsNumbers) {
  EXPECT_EQ(reference::from_e4m3(0x00), 0);
  EXPECT_EQ(reference::from_e4m3(0x01), 0x1p-9);
  EXPECT_EQ(reference::from_e4m3(0x08), 0x1p-6);
  EXPECT_EQ(reference::from_e4m3(0x3c), 1.5);
  EXPECT_EQ(reference::from_e4m3(0xbc), -1.5);
  EXPECT_EQ(reference::from_e4m3(0x7e), 448);
  EXPECT_TRUE(std::isnan(reference::from_e4m3(0xff)));
}

TEST(E4m3, IsRaisedToBf16Exactly) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    if ((byte & 0x7fU) == 0x7fU) continue;
    const unsigned word = byte | (byte ^ 0x80U) << 8U | 0x3cU << 16U | 0xbcU << 24U;
    const double number = reference::from_e4m3(static_cast<std::uint8_t>(byte));
    const unsigned even = raise_e4m3(even_e4m3(word));
    const unsigned odd = raise_e4m3(odd_e4m3(word));
    EXPECT_EQ(low_float(even), number) << byte;
    EXPECT_EQ(low_float(odd), -number) << byte;
    EXPECT_EQ(std::signbit(low_float(even)), byte >= 128) << byte;
    EXPECT_EQ(high_float(even), 1.5F);
    EXPECT_EQ(high_float(odd), -1.5F);
  }
}

// By hand: heads of products 2 and -1 with weights 3 and 5, scale 0.5.
TEST(IndexScore, LeavesOutNegativeProducts) {
  EXPECT_EQ(reference::index_score({1, 1, -1, 0}, {3, 5}, {1, 1}, 0.5), 3);
}

TEST(IndexerScores, AreRightOverRaggedLengths) {
  expect_right_and_counted(
      subject<IndexerScoresCase<64>>(shape_of({300, 129, 64, 33, 32, 1, 0}, 300, 1)));
}

TEST(IndexerScores, AreSharedByBlocksSomeOfThemIdle) {
  expect_right_and_counted(subject<IndexerScoresCase<64>>(shape_of({700, 40}, 700, 2)));
  expect_right_and_counted(subject<IndexerScoresCase<32>>(shape_of({300, 257}, 320, 4)));
}

TEST(IndexerScores, OfManyTilesAWarp) {
  expect_right_under(subject<IndexerScoresCase<32>>(shape_of({1500}, 1536, 1)),
                     {emulator::Order::greedy_warp, emulator::Landing::mixed, 3});
}

TEST(IndexerScores, PlantedMistakesAreCaught) {
  const IndexerShape shape = shape_of({45}, 64, 1);
  EXPECT_FALSE(is_caught(subject<IndexerScoresCase<32>>(shape)));
  EXPECT_TRUE(is_caught(subject<IndexerScoresCase<32, Mistake::no_relu>>(shape)));
  EXPECT_TRUE(is_caught(subject<IndexerScoresCase<32, Mistake::no_tail_mask>>(shape)));
}

TEST(IndexerScores, PlantedRacesAreCaught) {
  TS_SKIP_UNDER_TSAN();
  const IndexerShape shape = shape_of({1200}, 1216, 1);
  EXPECT_FALSE(is_caught(subject<IndexerScoresCase<32>>(shape)));
  EXPECT_TRUE(is_caught(subject<IndexerScoresCase<32, Mistake::copies_waited_late>>(shape)));
  EXPECT_TRUE(is_caught(subject<IndexerScoresCase<32, Mistake::ring_overwritten>>(shape)));
  EXPECT_TRUE(is_caught(subject<IndexerScoresCase<32, Mistake::no_barrier_before_tile>>(shape)));
}

}  // namespace
}  // namespace tiersim::kernels::indexer_scores_test
