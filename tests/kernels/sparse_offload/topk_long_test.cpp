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

constexpr int kHeld = 4 * kTopkLongRoom;  // the longest row whose scores are all candidates
const emulator::Options kGreedy{emulator::Order::greedy_warp, emulator::Landing::late, 7};

// A row above kHeld, each score from the random numbers and its index.
template <class Make>
std::vector<float> row_of(int length, const Make& make) {
  std::vector<float> scores(static_cast<std::size_t>(length));
  Random random(11);
  for (int i = 0; i < length; ++i) scores[static_cast<std::size_t>(i)] = make(random, i);
  return scores;
}

IndexTopkShape misjudged(std::vector<int> lengths, int context, int k) {
  IndexTopkShape shape = shape_of(std::move(lengths), context, k, Scores::flat);
  shape.misjudged = true;
  return shape;
}

// More than one chunk of 8192 scores; ties that reach over chunks, more of them than 16 bits hold.
TEST(TopkLong, ChoosesFromManyChunks) {
  const emulator::Options options{emulator::Order::greedy_warp, emulator::Landing::late, 7};
  expect_right_under(subject<Long>(shape_of({20001}, 20004, 2048, Scores::flat)), options);
  expect_right_under(subject<Long>(shape_of({20001}, 20004, 2048, Scores::concentrated)), options);
  std::vector<float> equal(90000, 1);
  equal[89999] = 2;
  expect_right_under(subject<Long>(misjudged({90000}, 90000, 2048), equal), options);
}

TEST(TopkLong, ChoosesFromASampledRow) {
  for (const Scores scores : {Scores::flat, Scores::concentrated}) {
    expect_right_and_counted(subject<Long>(shape_of({kHeld + 1}, kHeld + 8, 2048, scores)));
    expect_right_under(
        subject<Long>(shape_of({40001, kHeld, 2048, kHeld + 3, 300, 0}, 40008, 2048, scores)),
        kGreedy);
  }
  for (const int k : {1, 2, 2049, kTopkLongSampledMost}) {
    expect_right_under(subject<Long>(shape_of({33000}, 33000, k, Scores::flat)), kGreedy);
  }
  expect_right_under(subject<Long>(shape_of({131072}, 131072, 2048, Scores::flat)), kGreedy);
}

TEST(TopkLong, ChoosesWhereKIsNearTheLength) {
  expect_right_under(subject<Long>(shape_of({kHeld}, kHeld, kHeld - 1, Scores::flat)), kGreedy);
  for (const int k : {kTopkLongSampledMost + 1, kHeld - 1, kHeld, kHeld + 7}) {
    expect_right_under(subject<Long>(shape_of({kHeld + 8}, kHeld + 8, k, Scores::concentrated)),
                       kGreedy);
  }
}

TEST(TopkLong, ChoosesFromARowTooLongForBits) {
  constexpr int kLength = kTopkLongSampledScores;
  const auto shape = shape_of({kLength + 1, kLength}, kLength + 4, 64, Scores::flat);
  expect_right_under(subject<Long>(shape), kGreedy);
}

// Levels, 600 scores of each; and no scores but zeros of both signs at the threshold.
TEST(TopkLong, BreaksTiesOfASampledRowByTheLowestIndex) {
  const auto levels = [](Random& random, int) { return static_cast<float>(random.below(41)); };
  const auto zeros = [](Random& random, int i) {
    if (random.below(20) == 0) return i % 2 == 0 ? 0.0F : -0.0F;
    return -1.0F - static_cast<float>(random.below(1000));
  };
  for (const int k : {1, 599, 1500, 2048}) {
    const IndexTopkShape shape = shape_of({kHeld + 26}, kHeld + 28, k, Scores::flat);
    expect_right_under(subject<Long>(shape, row_of(kHeld + 28, levels)), kGreedy);
  }
  const IndexTopkShape shape = shape_of({kHeld + 26}, kHeld + 28, 777, Scores::flat);
  expect_right_and_counted(subject<Long>(shape, row_of(kHeld + 28, zeros)));
}

TEST(TopkLong, RanksInfinitiesAndNansOfASampledRow) {
  const auto mixed = [](Random& random, int) {
    switch (random.below(8)) {
      case 0:
        return std::bit_cast<float>(0x7fc00001U);
      case 1:
        return std::bit_cast<float>(0xffffffffU);
      case 2:
        return -HUGE_VALF;
      case 3:
        return random.below(200) == 0 ? HUGE_VALF : -0.0F;
      default:
        return static_cast<float>(random.below(1 << 20)) - 0x1p19F;
    }
  };
  for (const int k : {1, 20, 100, 2048}) {
    const IndexTopkShape shape = shape_of({30002}, 30004, k, Scores::flat);
    expect_right_under(subject<Long>(shape, row_of(30004, mixed)), kGreedy);
  }
  const auto mostly_nans = [](Random& random, int i) {
    return i % 25 == 0 ? static_cast<float>(random.below(100)) : std::bit_cast<float>(0x7fc00001U);
  };
  expect_right_under(subject<Long>(misjudged({30002}, 30004, 2048), row_of(30004, mostly_nans)),
                     kGreedy);
  const auto infinite = [](Random&, int i) { return i % 25 == 0 ? 1.0F : -HUGE_VALF; };
  expect_right_under(subject<Long>(misjudged({30002}, 30004, 2048), row_of(30004, infinite)),
                     kGreedy);
}

// More candidates than there is room for; and fewer than k, where what is sampled is high.
TEST(TopkLong, ReadsARowAgainWhoseSampleMisleads) {
  const auto shape = misjudged({30001}, 30004, 2048);
  expect_right_and_counted(subject<Long>(shape, std::vector<float>(30004, -2.5F)));
  const auto nearly_equal = [](Random&, int i) { return i % 1000 == 7 ? 2.0F : 1.0F; };
  expect_right_under(subject<Long>(shape, row_of(30004, nearly_equal)), kGreedy);
  std::vector<float> misleading =
      row_of(30004, [](Random& random, int) { return static_cast<float>(random.below(1 << 20)); });
  constexpr int kPairs = 30004 / 8;
  for (int pair = 0; pair < kTopkLongSample / 2; ++pair) {
    const int first = pair * kPairs / (kTopkLongSample / 2) * 8;
    for (int i = first; i < first + 8; ++i) misleading[static_cast<std::size_t>(i)] += 0x1p20F;
  }
  expect_right_under(subject<Long>(shape, misleading), kGreedy);
}

TEST(TopkLong, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  const IndexTopkShape shape = shape_of({2100}, 2104, 40, Scores::flat);
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::no_barrier_after_scores>>(shape)));
  const IndexTopkShape sampled = shape_of({kHeld + 8}, kHeld + 8, 40, Scores::flat);
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::no_barrier_after_scores>>(sampled)));
}

// In a row whose scores are held, in a sampled one, and in one that is read by digits.
void expect_mistakes_caught(int length, int k, unsigned levels) {
  const IndexTopkShape shape = shape_of({length}, length + 3, k, Scores::flat);
  std::vector<float> tied(static_cast<std::size_t>(length) + 3);
  Random random(6);
  for (float& score : tied) score = static_cast<float>(random.below(levels));
  EXPECT_FALSE(is_caught(subject<Long>(shape, tied)));
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::equals_not_counted>>(shape, tied)));
  tied[static_cast<std::size_t>(length) + 1] = 99;  // beyond the length, in the last 16 B
  EXPECT_FALSE(is_caught(subject<Long>(shape, tied)));
  EXPECT_TRUE(is_caught(subject<IndexTopkCase<true, Mistake::no_tail_mask>>(shape, tied)));
}

TEST(TopkLong, PlantedMistakesAreCaught) {
  expect_mistakes_caught(301, 77, 5);                               // some 60 are above 3
  expect_mistakes_caught(kHeld + 1, 777, 41);                       // some 600 are above 39
  expect_mistakes_caught(kHeld + 1, kTopkLongSampledMost + 1, 11);  // some 2200 are above 9
}

}  // namespace
}  // namespace tiersim::kernels::topk_long_test
