// Planted mistake              caught by
// no_barrier_after_scores      greedy_warp: a warp reads the histogram before others have counted
// equals_not_counted           any schedule, where several scores equal the k-th
// no_tail_mask                 any schedule, at a length that ends within a step
// lanes_not_paired             any schedule
#include "kernels/cases/maple_screen_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/screening/screening_subjects.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::maple_screen_test {
namespace {

using Id16 = std::uint16_t;
using Screen = MapleScreenCase<32, Id16>;

TEST(ScreeningReference, TakesTheLowestOfEqualScoresInAscendingOrder) {
  EXPECT_EQ(reference::largest({1, 3, 2, 3, 2, 2}, 3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(reference::largest({5, 7}, 4), (std::vector<int>{0, 1, -1, -1}));
  EXPECT_EQ(reference::largest({NAN, -HUGE_VAL, NAN, 1}, 3), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(reference::largest({}, 1), (std::vector<int>{-1}));
}

TEST(ScreeningReference, MultipliesRowsByTheQuery) {
  EXPECT_EQ(reference::low_rank_scores({1, 2, 3, -4, 0, 0}, {10, 1}),
            (std::vector<double>{12, 26, 0}));
}

TEST(MapleScreen, ChoosesExactlyOverRaggedLengths) {
  expect_right_and_counted(
      subject<Screen>(ragged_shape({520, 129, 128, 127, 41, 300}, 520, 40, 2)));
}

TEST(MapleScreen, TakesAllAndReadsNothingWhereThereIsNoChoice) {
  expect_right_and_counted(subject<Screen>(ragged_shape({40, 39, 1, 0}, 64, 40)));
  expect_right_and_counted(subject<Screen>(ragged_shape({200}, 200, 200)));
}

TEST(MapleScreen, ChoosesOneAndAllButOne) {
  expect_right_and_counted(subject<Screen>(ragged_shape({300, 2}, 300, 1)));
  expect_right_and_counted(subject<Screen>(ragged_shape({300}, 300, 299)));
}

TEST(MapleScreen, BreaksTiesByTheLowestIndex) {
  ScreeningShape shape = ragged_shape({400, 333}, 400, 100);
  shape.divisor = 1 << 16;  // numbers -1, 0, 1
  expect_right_and_counted(subject<Screen>(shape));
  shape.divisor = 1 << 20;  // all zero: all equal
  expect_right_and_counted(subject<Screen>(shape));
}

TEST(MapleScreen, WorksForEveryRankAndWidthOfIndices) {
  const ScreeningShape shape = ragged_shape({700, 211}, 704, 96);
  expect_right_and_counted(subject<MapleScreenCase<16, Id16>>(shape));
  expect_right_and_counted(subject<MapleScreenCase<64, Id16>>(shape));
  expect_right_and_counted(subject<MapleScreenCase<32, int>>(shape));
  expect_right_and_counted(subject<MapleScreenCase<64, int>>(ragged_shape({350}, 352, 33)));
}

// More indices than the histogram's memory holds, and more tokens than one step of all warps.
TEST(MapleScreen, ChoosesManyOfMany) {
  expect_right_under(subject<Screen>(ragged_shape({6000}, 6016, 4800)),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 7});
}

TEST(MapleScreen, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  const ScreeningShape shape = ragged_shape({515, 300}, 520, 100);
  EXPECT_TRUE(
      is_caught(subject<MapleScreenCase<32, Id16, Mistake::no_barrier_after_scores>>(shape)));
}

TEST(MapleScreen, PlantedMistakesAreCaught) {
  const ScreeningShape shape = ragged_shape({515, 300}, 520, 100);
  ScreeningShape ties = shape;
  ties.divisor = 1 << 16;
  EXPECT_FALSE(is_caught(subject<Screen>(ties)));
  EXPECT_TRUE(is_caught(subject<MapleScreenCase<32, Id16, Mistake::equals_not_counted>>(ties)));
  ScreeningShape most = shape;
  most.k = 299;  // large enough for tokens past the length, with score 0, to be among them
  EXPECT_FALSE(is_caught(subject<Screen>(most)));
  EXPECT_TRUE(is_caught(subject<MapleScreenCase<32, Id16, Mistake::no_tail_mask>>(most)));
  EXPECT_TRUE(is_caught(subject<MapleScreenCase<32, Id16, Mistake::lanes_not_paired>>(shape)));
}

}  // namespace
}  // namespace tiersim::kernels::maple_screen_test
