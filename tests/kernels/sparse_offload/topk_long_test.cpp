// Planted mistake              caught by
// no_barrier_after_scores      greedy_warp
// equals_not_counted           any schedule, with ties at the threshold
// no_tail_mask                 any schedule, at a length that ends within 16 B
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cases/index_topk_case.cuh"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::topk_long_test {
namespace {

using Long = IndexTopkCase<true>;

template <class Subject>
MakeCase subject(const IndexTopkShape& shape, std::vector<float> given = {}) {
  return [=] { return std::make_unique<Subject>(shape, given); };
}

IndexTopkShape shape_of(std::vector<int> lengths, int context, int k, Scores scores) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = context,
          .k = k,
          .scores = scores,
          .lengths = lengths};
}

TEST(TopkLong, ChoosesExactlyOverRaggedLengths) {
  for (const Scores scores : {Scores::flat, Scores::concentrated}) {
    const IndexTopkShape shape = shape_of({520, 257, 256, 255, 41}, 520, 40, scores);
    expect_right_and_counted(subject<Long>(shape));
    expect_right_and_counted(subject<IndexTopkCase<false>>(shape));
  }
}

TEST(TopkLong, TakesAllAndReadsNothingWhereThereIsNoChoice) {
  expect_right_and_counted(subject<Long>(shape_of({40, 39, 1, 0}, 64, 40, Scores::flat)));
}

TEST(TopkLong, ChoosesOneAndAllButOne) {
  expect_right_and_counted(subject<Long>(shape_of({301, 2}, 304, 1, Scores::flat)));
  expect_right_and_counted(subject<Long>(shape_of({301, 300}, 304, 299, Scores::concentrated)));
}

TEST(TopkLong, BreaksTiesByTheLowestIndex) {
  const IndexTopkShape shape = shape_of({400}, 400, 77, Scores::flat);
  std::vector<float> levels(400);
  Random random(5);
  for (float& score : levels) score = static_cast<float>(random.below(3)) - 1.0F;
  expect_right_and_counted(subject<Long>(shape, levels));
  expect_right_and_counted(subject<Long>(shape, std::vector<float>(400, -2.5F)));
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = i % 2 == 0 ? -0.0F : 0.0F;
  expect_right_and_counted(subject<Long>(shape, levels));
}

TEST(TopkLong, RanksInfinitiesAboveAndNansBelowAllNumbers) {
  std::vector<float> scores(136, -HUGE_VALF);
  scores[3] = HUGE_VALF;
  scores[77] = std::bit_cast<float>(0x7fc00001U);
  scores[90] = std::bit_cast<float>(0xffffffffU);
  scores[100] = -std::numeric_limits<float>::max();
  scores[135] = std::numeric_limits<float>::denorm_min();
  for (const int k : {1, 2, 3, 100, 134, 135}) {
    expect_right_and_counted(subject<Long>(shape_of({136}, 136, k, Scores::flat), scores));
  }
}

// More than one chunk of 8192 scores; ties that reach over chunks, more of them than 16 bits hold.
TEST(TopkLong, ChoosesFromManyChunks) {
  const emulator::Options options{emulator::Order::greedy_warp, emulator::Landing::late, 7};
  expect_right_under(subject<Long>(shape_of({20001}, 20004, 2048, Scores::flat)), options);
  expect_right_under(subject<Long>(shape_of({20001}, 20004, 2048, Scores::concentrated)), options);
  std::vector<float> equal(90000, 1);
  equal[89999] = 2;
  expect_right_under(subject<Long>(shape_of({90000}, 90000, 2048, Scores::flat), equal), options);
}

TEST(TopkLong, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  const IndexTopkShape shape = shape_of({2100}, 2104, 40, Scores::flat);
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::no_barrier_after_scores>>(shape)));
}

TEST(TopkLong, PlantedMistakesAreCaught) {
  const IndexTopkShape shape = shape_of({301}, 304, 77, Scores::flat);
  std::vector<float> tied(304);
  Random random(6);
  for (float& score : tied) score = static_cast<float>(random.below(5));  // some 60 are above 3
  EXPECT_FALSE(is_caught(subject<Long>(shape, tied)));
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::equals_not_counted>>(shape, tied)));
  tied[302] = 9;  // beyond the length, in the last 16 B
  EXPECT_FALSE(is_caught(subject<Long>(shape, tied)));
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::no_tail_mask>>(shape, tied)));
}

}  // namespace
}  // namespace tiersim::kernels::topk_long_test
