// Planted mistakes and the checks that find them:
//   no_tail_mask             zeros past the end take part: the result
//   copies_waited_late       with copies that land late: unwritten bytes are NaN
//   ring_overwritten         with copies that land early: the next tile is read in place of this
//   no_barrier_before_join   one warp runs ahead (greedy_warp): parts of others are NaN or stale
//   no_barrier_before_refill ThreadSanitizer alone: the lanes leave ldmatrix together
//   short shared memory      an access past its end
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "kernels/cases/dense.hpp"
#include "kernels/cases/dense_decode_case.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::dense_decode_test {
namespace {

// The fewest key heads and the shortest context that a test needs.
DenseShape shape_of(int group, const std::vector<int>& lengths, int context, float amplitude = 1) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = context,
          .kv_heads = 2,
          .group = group,
          .lengths = lengths,
          .amplitude = amplitude};
}

template <int Group, int Stages = 2, Mistake Planted = Mistake::none>
MakeCase decode(const DenseShape& shape, int splits, int missing_shared_bytes = 0) {
  return [=] {
    return std::make_unique<DenseDecodeCase<Group, Stages, Planted>>(shape, splits,
                                                                     missing_shared_bytes);
  };
}

TEST(DenseDecode, IsRightForRaggedLengths) {
  expect_right_and_counted(decode<1>(shape_of(1, {130, 1, 64, 17}, 140), 1));
}

TEST(DenseDecode, IsRightWithSplitsOfWhichSomeAreEmpty) {
  DenseShape shape = shape_of(1, {200, 65, 0}, 200);
  shape.kv_heads = 1;
  expect_right_and_counted(decode<1>(shape, 3));
}

TEST(DenseDecode, IsRightWithThreeStages) {
  expect_right_and_counted(decode<1, 3>(shape_of(1, {300, 15}, 300), 1));
}

TEST(DenseDecode, GivesZerosForAnEmptySequence) {
  expect_right_and_counted(decode<1>(shape_of(1, {0, 5}, 16), 1));
}

TEST(DenseDecode, SurvivesLargeLogits) {
  expect_right_and_counted(decode<1>(shape_of(1, {100, 33}, 100, 200), 2));
}

TEST(DenseDecode, AveragesWhereAllLogitsAreEqual) {
  expect_right_and_counted(decode<1>(shape_of(1, {100, 33}, 100, 0), 2));
}

TEST(DenseDecode, PlantedMistakesAreCaught) {
  const DenseShape shape = shape_of(1, {150, 37}, 150);
  EXPECT_FALSE(is_caught(decode<1>(shape, 1)));
  EXPECT_TRUE((is_caught(decode<1, 2, Mistake::no_tail_mask>(shape, 1))));
  EXPECT_TRUE(is_caught(decode<1>(shape, 1, 16)));
}

TEST(DenseDecode, PlantedRacesAreCaught) {
  TS_SKIP_UNDER_TSAN();
  const DenseShape shape = shape_of(1, {150, 37}, 150);
  EXPECT_TRUE((is_caught(decode<1, 2, Mistake::copies_waited_late>(shape, 1))));
  EXPECT_TRUE((is_caught(decode<1, 2, Mistake::no_barrier_before_join>(shape, 1))));
}

TEST(GqaDecode, IsRightForRaggedLengths) {
  expect_right_and_counted(decode<8>(shape_of(8, {130, 1, 17}, 140), 1));
}

TEST(GqaDecode, IsRightForGroupsThatFillTheTileMoreOrLess) {
  expect_right_and_counted(decode<4>(shape_of(4, {99, 16}, 99), 1));
  expect_right_and_counted(decode<16>(shape_of(16, {99}, 99), 1));
}

TEST(GqaDecode, IsRightWithSplitsOfWhichSomeAreEmpty) {
  DenseShape shape = shape_of(8, {200, 1, 0}, 200);
  shape.kv_heads = 1;
  expect_right_and_counted(decode<8>(shape, 3));
}

TEST(GqaDecode, SurvivesLargeAndEqualLogits) {
  expect_right_and_counted(decode<8>(shape_of(8, {100, 33}, 100, 200), 1));
  expect_right_and_counted(decode<8>(shape_of(8, {100, 33}, 100, 0), 1));
}

TEST(GqaDecode, PlantedMistakesAreCaught) {
  const DenseShape shape = shape_of(8, {150, 37}, 150);
  EXPECT_FALSE(is_caught(decode<8>(shape, 1)));
  EXPECT_TRUE((is_caught(decode<8, 2, Mistake::no_tail_mask>(shape, 1))));
  EXPECT_TRUE(is_caught(decode<8>(shape, 1, 16)));
}

TEST(GqaDecode, PlantedRacesAreCaught) {
  TS_SKIP_UNDER_TSAN();
  const DenseShape shape = shape_of(8, {150, 37}, 150);
  EXPECT_TRUE((is_caught(decode<8, 2, Mistake::copies_waited_late>(shape, 1))));
  EXPECT_TRUE((is_caught(decode<8, 2, Mistake::ring_overwritten>(shape, 1))));
  EXPECT_TRUE((is_caught(decode<8, 2, Mistake::no_barrier_before_join>(shape, 1))));
}

// With copies that land early a lane overwrites data that ThreadSanitizer saw another lane read.
TEST(GqaDecode, PlantedRaceWithinAWarpIsReported) {
  if (!TS_EMULATOR_TSAN) GTEST_SKIP() << "this build has no ThreadSanitizer";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const DenseShape shape = shape_of(8, {150, 37}, 150);
  const auto run_and_exit = [](const MakeCase& make) { std::exit(is_caught(make) ? 1 : 0); };
  EXPECT_EXIT(run_and_exit(decode<8>(shape, 1)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(run_and_exit(decode<8, 2, Mistake::no_barrier_before_refill>(shape, 1)),
              ::testing::ExitedWithCode(66), "data race");
}

TEST(DenseCases, OfToySizeAreRightAndCounted) {
  CaseList cases;
  add_dense_cases(cases, Sizes::toy);
  for (const CaseEntry& entry : cases) {
    SCOPED_TRACE(entry.name);
    expect_right_under(entry.make, {});
  }
}

}  // namespace
}  // namespace tiersim::kernels::dense_decode_test
