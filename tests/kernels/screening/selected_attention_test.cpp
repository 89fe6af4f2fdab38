// Planted mistake       caught by
// copies_waited_late    late landing: the ring still holds poison or an older row
// ring_overwritten      early landing: the next row is there too soon; late: the last is read twice
// no_tail_mask          any schedule, at a count that ends within a step
#include <gtest/gtest.h>

#include "kernels/cases/selected_case.cuh"
#include "tests/kernels/screening/screening_subjects.hpp"

namespace tiersim::kernels::selected_attention_test {
namespace {

using Id16 = std::uint16_t;
using Selected = SelectedAttentionCase<Id16>;

ScreeningShape split(ScreeningShape shape, int splits) {
  shape.splits = splits;
  return shape;
}

TEST(SelectedAttention, AttendsToTheChosenRowsOverRaggedLengths) {
  expect_right_and_counted(subject<Selected>(ragged_shape({300, 150, 33, 1, 0}, 304, 140)));
  expect_right_and_counted(subject<SelectedAttentionCase<int>>(ragged_shape({90}, 96, 65)));
}

TEST(SelectedAttention, AttendsToOneTokenAndToAll) {
  expect_right_and_counted(subject<Selected>(ragged_shape({50, 1}, 50, 1)));
  expect_right_and_counted(subject<Selected>(ragged_shape({200}, 200, 200)));
}

TEST(SelectedAttention, JoinsSplitsSomeOfThemEmpty) {
  expect_right_and_counted(
      subject<Selected>(split(ragged_shape({150, 60, 33, 1, 0}, 152, 100), 4)));
  expect_right_and_counted(subject<Selected>(split(ragged_shape({40}, 40, 20), 3)));
}

TEST(SelectedAttention, StandsLargeAndEqualScores) {
  ScreeningShape shape = ragged_shape({150}, 152, 70);
  shape.amplitude = 1000;  // scores of some thousand: exp() of one alone would overflow
  expect_right_and_counted(subject<Selected>(shape));
  expect_right_and_counted(subject<Selected>(split(shape, 2)));
  shape.amplitude = 0;  // all equal: the mean
  expect_right_and_counted(subject<Selected>(shape));
  expect_right_and_counted(subject<Selected>(split(shape, 2)));
}

TEST(SelectedAttention, PlantedMistakesAreCaught) {
  const ScreeningShape shape = ragged_shape({200}, 200, 150);
  EXPECT_FALSE(is_caught(subject<Selected>(shape)));
  EXPECT_TRUE(is_caught(subject<SelectedAttentionCase<Id16, Mistake::copies_waited_late>>(shape)));
  EXPECT_TRUE(is_caught(subject<SelectedAttentionCase<Id16, Mistake::ring_overwritten>>(shape)));
  ScreeningShape equal = shape;
  equal.amplitude = 0;
  EXPECT_TRUE(is_caught(subject<SelectedAttentionCase<Id16, Mistake::no_tail_mask>>(equal)));
}

}  // namespace
}  // namespace tiersim::kernels::selected_attention_test
