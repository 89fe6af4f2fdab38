// Planted mistake              caught by
// no_barrier_after_scores      greedy_warp: sizes of the query's components are ranked too early
// lanes_not_paired             any schedule
#include <gtest/gtest.h>

#include "kernels/cases/sparq_case.cuh"
#include "kernels/emulator/launch.hpp"
#include "kernels/runtime/stream.cuh"
#include "tests/kernels/screening/screening_subjects.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::sparq_test {
namespace {

TEST(SparqReference, MultipliesTheLargestComponentsOnly) {
  // -3 and the first 2 have the largest magnitude: 10 * -3 + 1 * 2, then 0 * -3 + 7 * 2.
  EXPECT_EQ(reference::sparq_scores({100, 10, 1, 50, 0, 0, 7, 9}, {1, -3, 2, 2}, 2),
            (std::vector<double>{-28, 14}));
}

TEST(Sparq, IsRightInAllStepsWithTwoCopies) {
  expect_right_and_counted(subject<SparqCase<32, true>>(ragged_shape({301, 9, 0}, 304, 40)));
}

TEST(Sparq, IsRightInAllStepsWithOneCopy) {
  expect_right_and_counted(subject<SparqCase<32, false>>(ragged_shape({301, 9, 0}, 304, 40)));
}

TEST(Sparq, ScoresByAnyNumberOfComponents) {
  const ScreeningShape shape = ragged_shape({77, 40}, 80, 40, 2);
  expect_right_and_counted(subject<SparqCase<16, true>>(shape, SparqPart::scores));
  expect_right_and_counted(subject<SparqCase<64, true>>(shape, SparqPart::scores));
  expect_right_and_counted(subject<SparqCase<16, false>>(shape, SparqPart::scores));
  expect_right_and_counted(subject<SparqCase<64, false>>(shape, SparqPart::scores));
}

TEST(Sparq, SplitsTheChosenTokens) {
  ScreeningShape shape = ragged_shape({200, 31}, 200, 64);
  shape.splits = 2;
  expect_right_and_counted(subject<SparqCase<32, true>>(shape));
}

TEST(Sparq, CrossesBlocksOfTokens) {
  expect_right_under(subject<SparqCase<16, true>>(ragged_shape({2100}, 2104, 100)),
                     {emulator::Order::shuffled, emulator::Landing::late, 9});
}

template <bool TwoCopies>
std::int64_t key_sector_bytes(const ScreeningShape& shape) {
  SparqCase<32, TwoCopies> subject(shape, SparqPart::scores);
  subject.prepare(1, 11);
  emulator::machine().memory.clear();
  Stream stream;
  subject.enqueue(stream, 0);
  return emulator::machine().memory.traffic().read_sector_bytes;
}

// The counter-example: a quarter of the bytes, but over 95 % of the 32 B sectors. 32 of 128
// components miss a sector of 16 with probability (96 over 16) / (128 over 16) < 1 %.
TEST(Sparq, OneCopySavesNoTraffic) {
  const ScreeningShape shape = ragged_shape({512}, 512, 64, 2);
  const std::int64_t whole = std::int64_t{2} * 512 * 256;
  EXPECT_GT(key_sector_bytes<false>(shape), whole * 95 / 100);
  EXPECT_LT(key_sector_bytes<true>(shape), whole * 27 / 100);
}

TEST(Sparq, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  const ScreeningShape shape = ragged_shape({300}, 304, 40);
  EXPECT_TRUE(is_caught(subject<SparqCase<32, true, Mistake::no_barrier_after_scores>>(shape)));
}

TEST(Sparq, PlantedMistakesAreCaught) {
  const ScreeningShape shape = ragged_shape({300}, 304, 40);
  EXPECT_FALSE(is_caught(subject<SparqCase<32, true>>(shape)));
  EXPECT_TRUE(is_caught(subject<SparqCase<32, false, Mistake::lanes_not_paired>>(shape)));
}

}  // namespace
}  // namespace tiersim::kernels::sparq_test
