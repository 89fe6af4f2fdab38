// Planted mistake              caught by
// no_barrier_after_scores      greedy_warp
// equals_not_counted           any schedule, with ties at the threshold
// no_tail_mask                 any schedule, at a length that ends within 16 B
#include "kernels/cases/topk_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/screening/screening_subjects.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::topk_test {
namespace {

using Id16 = std::uint16_t;
using Topk32 = TopkCase<Float32, int>;
using Topk16 = TopkCase<Float16, Id16>;

const float kInfinity = HUGE_VALF;

TEST(Topk, ChoosesExactlyOverRaggedLengths) {
  const ScreeningShape shape = ragged_shape({520, 257, 256, 255, 41}, 520, 40, 2);
  expect_right_and_counted(subject<Topk32>(shape));
  expect_right_and_counted(subject<Topk16>(shape));
  expect_right_and_counted(subject<TopkCase<BFloat16, Id16>>(shape));
  expect_right_and_counted(subject<TopkCase<Float32, Id16>>(shape));
}

TEST(Topk, TakesAllAndReadsNothingWhereThereIsNoChoice) {
  expect_right_and_counted(subject<Topk32>(ragged_shape({40, 39, 1, 0}, 64, 40)));
  expect_right_and_counted(subject<Topk16>(ragged_shape({200}, 200, 200)));
}

TEST(Topk, ChoosesOneAndAllButOne) {
  expect_right_and_counted(subject<Topk32>(ragged_shape({301, 2}, 304, 1)));
  expect_right_and_counted(subject<Topk16>(ragged_shape({301, 300}, 304, 299)));
}

// Neighbouring numbers, so that all three histograms are needed; and few values, many times each.
TEST(Topk, TellsCloseScoresApartAndBreaksTiesByTheLowestIndex) {
  const ScreeningShape shape = ragged_shape({400}, 400, 77);
  std::vector<float> close(400);
  std::vector<float> levels(400);
  Random random(5);
  for (float& score : close) score = 1.0F + static_cast<float>(random.below(64)) * 0x1p-23F;
  for (float& score : levels) score = static_cast<float>(random.below(3)) - 1.0F;
  expect_right_and_counted(subject<Topk32>(shape, close));
  expect_right_and_counted(subject<Topk32>(shape, levels));
  expect_right_and_counted(subject<Topk32>(shape, std::vector<float>(400, -2.5F)));
  expect_right_and_counted(subject<Topk16>(shape, std::vector<std::uint16_t>(400, 0x3c00)));
}

TEST(Topk, TreatsBothZerosAsEqual) {
  std::vector<float> zeros(128);
  for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = i % 2 == 0 ? -0.0F : 0.0F;
  expect_right_and_counted(subject<Topk32>(ragged_shape({128}, 128, 9), zeros));
  std::vector<std::uint16_t> halves(128, 0x8000);
  halves[100] = 0;
  expect_right_and_counted(subject<Topk16>(ragged_shape({128}, 128, 9), halves));
}

TEST(Topk, RanksInfinitiesAboveAndNansBelowAllNumbers) {
  std::vector<float> scores(136, -kInfinity);
  scores[3] = kInfinity;
  scores[77] = std::bit_cast<float>(0x7fc00001U);
  scores[90] = std::bit_cast<float>(0xffffffffU);
  scores[100] = -std::numeric_limits<float>::max();
  scores[135] = std::numeric_limits<float>::denorm_min();
  for (const int k : {1, 2, 3, 100, 134, 135}) {
    expect_right_and_counted(subject<Topk32>(ragged_shape({136}, 136, k), scores));
  }
  std::vector<std::uint16_t> halves(136, 0xfc00);
  halves[3] = 0x7c00;
  halves[77] = 0x7e00;
  halves[90] = 0xffff;
  for (const int k : {1, 2, 133, 134, 135}) {
    expect_right_and_counted(subject<Topk16>(ragged_shape({136}, 136, k), halves));
  }
}

TEST(Topk, ChoosesManyOfMany) {
  expect_right_under(subject<Topk32>(ragged_shape({5999}, 6000, 4801)),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 7});
  expect_right_under(subject<Topk16>(ragged_shape({5999}, 6000, 4800)),
                     {emulator::Order::shuffled, emulator::Landing::late, 8});
}

TEST(Topk, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  const ScreeningShape shape = ragged_shape({515, 300}, 520, 100);
  EXPECT_TRUE(is_caught(subject<TopkCase<Float32, int, Mistake::no_barrier_after_scores>>(shape)));
}

TEST(Topk, PlantedMistakesAreCaught) {
  const ScreeningShape shape = ragged_shape({515, 300}, 520, 100);
  const std::vector<float> levels = [] {
    std::vector<float> scores(1040);
    Random random(6);
    for (float& score : scores) score = static_cast<float>(random.below(4)) - 8.0F;
    return scores;
  }();
  EXPECT_FALSE(is_caught(subject<Topk32>(shape, levels)));
  EXPECT_TRUE(
      is_caught(subject<TopkCase<Float32, int, Mistake::equals_not_counted>>(shape, levels)));
  std::vector<float> best_behind_the_length(1040, -1.0F);
  best_behind_the_length[515] = 5.0F;
  EXPECT_FALSE(is_caught(subject<Topk32>(shape, best_behind_the_length)));
  EXPECT_TRUE(is_caught(
      subject<TopkCase<Float32, int, Mistake::no_tail_mask>>(shape, best_behind_the_length)));
}

}  // namespace
}  // namespace tiersim::kernels::topk_test
