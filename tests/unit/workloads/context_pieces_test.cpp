// The cut of a prompt over context ranks: every position once, equal pairs under zigzag.
#include "workloads/llm/context_pieces.hpp"

#include <gtest/gtest.h>

namespace tiersim::context_pieces_test {
namespace {

constexpr ParallelConfig kZigzag{.context = 4};
constexpr ParallelConfig kRow{.context = 4, .context_order = ContextOrder::contiguous};

std::vector<PromptPiece> of(const ParallelConfig& p, std::int64_t positions, std::int64_t rank) {
  return pieces_of(p, positions, rank);
}

TEST(ContextPieces, AreOneFromEachEndOrOneInARow) {
  EXPECT_EQ(of(kZigzag, 16, 0), (std::vector<PromptPiece>{{0, 2}, {14, 2}}));
  EXPECT_EQ(of(kZigzag, 16, 3), (std::vector<PromptPiece>{{6, 2}, {8, 2}}));
  EXPECT_EQ(of(kRow, 16, 0), (std::vector<PromptPiece>{{0, 4}}));
  EXPECT_EQ(of(kRow, 16, 3), (std::vector<PromptPiece>{{12, 4}}));
}

// 19 positions in 8 pieces of 2 or 3, and in 4 of 4 or 5.
TEST(ContextPieces, HaveEveryPositionOnce) {
  for (const ParallelConfig& p : {kZigzag, kRow}) {
    std::vector<int> times(19);
    for (std::int64_t rank = 0; rank < 4; ++rank)
      for (const PromptPiece& piece : of(p, 19, rank))
        for (std::int64_t at = piece.first; at < piece.end(); ++at)
          ++times[static_cast<std::size_t>(at)];
    EXPECT_EQ(times, std::vector<int>(19, 1));
  }
  EXPECT_EQ(most_positions(kZigzag, 19), 5);
  EXPECT_EQ(most_positions(kRow, 19), 5);
}

TEST(ContextPieces, OfTheRankWithMostAreFound) {
  for (const ParallelConfig& p : {kZigzag, kRow})
    for (std::int64_t positions = 8; positions < 40; ++positions) {
      std::int64_t most = 0;
      for (std::int64_t rank = 0; rank < 4; ++rank)
        most = std::max(most, positions_of(of(p, positions, rank)));
      EXPECT_EQ(most_positions(p, positions), most) << positions;
    }
}

// Pieces of c = 10: its own rows give a rank 2 c^2 + c pairs, those of any other rank 2 c^2. The
// queries of both pieces meet the first piece of an earlier rank; those of the second meet both
// pieces of a later one.
TEST(ContextPieces, UnderZigzagGiveEveryRankAsManyPairsInEveryStep) {
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (std::int64_t other = 0; other < 4; ++other) {
      const PiecePairs met = piece_pairs(of(kZigzag, 80, rank), of(kZigzag, 80, other));
      EXPECT_EQ(met.pairs, rank == other ? 210 : 200);
      EXPECT_EQ(met.queries, other > rank ? 10 : 20);
      EXPECT_EQ(met.keys, other < rank ? 10 : 20);
    }
  EXPECT_EQ(heaviest_rank(kZigzag, 80), 3);
}

// Pieces of c = 20: the last rank has 3 c^2 + c (c + 1) / 2 = 1410 pairs of 80 * 81 / 2 = 3240, or
// 1.741 of the mean; (2 N - 1) / N = 1.75 without the diagonal.
TEST(ContextPieces, InARowGiveTheLastRankTheMost) {
  std::vector<std::int64_t> pairs(4);
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (std::int64_t other = 0; other < 4; ++other)
      pairs[static_cast<std::size_t>(rank)] +=
          piece_pairs(of(kRow, 80, rank), of(kRow, 80, other)).pairs;
  EXPECT_EQ(pairs, (std::vector<std::int64_t>{210, 610, 1010, 1410}));
  EXPECT_EQ(piece_pairs(of(kRow, 80, 1), of(kRow, 80, 2)).pairs, 0);
  EXPECT_EQ(heaviest_rank(kRow, 80), 3);
}

// Without the diagonal: (N - 1) c^2 + c^2 / 2 over N c^2 / 2 is (2 N - 1) / N; the diagonal adds
// c / 2 to both, at most 1 / c of the mean.
TEST(ContextPieces, InARowApproachTwiceTheMean) {
  for (const std::int64_t ranks : {2, 8, 16}) {
    const ParallelConfig p{.context = ranks, .context_order = ContextOrder::contiguous};
    const std::int64_t c = 100'000;
    std::int64_t last = 0;
    for (std::int64_t other = 0; other < ranks; ++other)
      last += piece_pairs(of(p, c * ranks, ranks - 1), of(p, c * ranks, other)).pairs;
    const double n = static_cast<double>(ranks);
    const double whole = static_cast<double>(c * ranks) * static_cast<double>(c * ranks + 1) / 2;
    EXPECT_NEAR(static_cast<double>(last) / (whole / n), (2 * n - 1) / n, 1e-5);
  }
}

}  // namespace
}  // namespace tiersim::context_pieces_test
