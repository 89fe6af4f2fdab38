// Planted mistake           caught by
// no_vote_barrier           outputs under greedy_warp (poison)
// wrong_row_half            outputs
// no_tail_mask              outputs: tokens past the length take part with score 0
// newest_forgotten          outputs; where the new token is the only one, zeros
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cases/early_exit_layer.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::decoder_layer_test {
namespace {

template <int Columns, Mistake Planted = Mistake::none, WideParts Parts = WideParts::none>
MakeCase layer(const LayerPlan& plan) {
  return [plan] { return std::make_unique<LayerCase<Columns, Parts, Planted>>(plan); };
}
template <WideParts Parts, Mistake Planted = Mistake::none>
MakeCase wide_layer(const LayerPlan& plan) {
  return layer<1, Planted, Parts>(plan);
}

constexpr LayerPlan kRagged = {
    .depth = 64, .wide = 64, .heads = 1, .tokens = 4, .decoded = 7, .encoded = 9, .ragged = true};

TEST(AttendReference, WeighsByTheExponentOfTheScore) {
  // Scores 0 and ln 3 (with its bias): weights 1/4 and 3/4.
  const std::vector<double> out =
      attend_reference({1}, {{0}, {0.5}}, {{4}, {8}}, {0, std::log(3.0) - 0.5});
  EXPECT_NEAR(out[0], 7, 1e-12);
  EXPECT_EQ(attend_reference({1, 1}, {}, {}, {}), (std::vector<double>{0, 0}));
}

TEST(RelativeBucket, IsExactBelowSixteenThenLogarithmic) {
  EXPECT_EQ(relative_bucket(0), 0);
  EXPECT_EQ(relative_bucket(15), 15);
  EXPECT_EQ(relative_bucket(16), 16);
  EXPECT_EQ(relative_bucket(46), 24);  // 16 sqrt(8) = 45.25 is half way of the logarithm
  EXPECT_EQ(relative_bucket(127), 31);
  EXPECT_EQ(relative_bucket(1000), 31);
}

TEST(GeluReference, IsAlmostXFarRightAndZeroFarLeft) {
  EXPECT_DOUBLE_EQ(gelu_reference(0), 0);
  EXPECT_NEAR(gelu_reference(10), 10, 1e-12);
  EXPECT_NEAR(gelu_reference(-10), 0, 1e-12);
  EXPECT_NEAR(gelu_reference(1), 0.8412, 1e-4);
}

// Up to |x| = 3 the exponent is at most 6.8 and comes from some 8 roundings (2^-24 of it each): its
// exponential is off by 54 of them, and its own error, the sum and the quotient add 6. So 2^-18.
TEST(Gelu, OfTheKernelsIsTheReference) {
  for (double x = -3; x <= 3; x += 0.125) {
    const double expected = gelu_reference(x);
    EXPECT_NEAR(double{gelu(static_cast<float>(x))}, expected, std::abs(expected) / 0x1p18) << x;
  }
}

TEST(DecoderLayer, IsRightForRaggedLengths) {
  expect_right_and_counted(layer<1>(kRagged));
}

TEST(DecoderLayer, IsRightForOneSequenceOfOneToken) {
  expect_right_and_counted(
      layer<1>({.depth = 32, .wide = 32, .heads = 1, .tokens = 1, .decoded = 1, .encoded = 1}));
}

TEST(DecoderLayer, IsRightForSeveralHeadsAndLongerCachesThanAtOnce) {
  expect_right_under(
      layer<1>({.depth = 128, .wide = 64, .heads = 2, .tokens = 3, .decoded = 70, .encoded = 130}),
      {emulator::Order::greedy_warp, emulator::Landing::late, 3});
}

TEST(DecoderLayer, IsRightForEveryWidth) {
  const LayerPlan plan = {.depth = 64,
                          .wide = 64,
                          .heads = 1,
                          .tokens = 18,
                          .decoded = 3,
                          .encoded = 2,
                          .ragged = true};
  const emulator::Options options = {emulator::Order::shuffled, emulator::Landing::mixed, 2};
  expect_right_under(layer<2>(plan), options);
  expect_right_under(layer<4>(plan), options);
}

TEST(DecoderLayer, IsRightInItsWideForms) {
  expect_right_and_counted(wide_layer<WideParts::large>(kRagged));
  expect_right_and_counted(wide_layer<WideParts::all>(kRagged));
  const LayerPlan two_tiles = {.depth = 128,
                               .wide = 64,
                               .heads = 2,
                               .tokens = 70,
                               .decoded = 2,
                               .encoded = 1,
                               .ragged = true};
  expect_right_under(wide_layer<WideParts::all>(two_tiles),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 3});
}

TEST(DecoderLayer, IsCaughtWithAPlantedMistake) {
  EXPECT_TRUE(is_caught(layer<1, Mistake::wrong_row_half>(kRagged)));
  EXPECT_TRUE(is_caught(layer<1, Mistake::no_tail_mask>(kRagged)));
  EXPECT_TRUE(is_caught(layer<1, Mistake::newest_forgotten>(kRagged)));
}

TEST(DecoderLayer, IsCaughtWithAPlantedRace) {
  TS_SKIP_UNDER_TSAN();
  EXPECT_TRUE(is_caught(layer<1, Mistake::no_vote_barrier>(kRagged)));
  EXPECT_TRUE(is_caught(wide_layer<WideParts::all, Mistake::no_vote_barrier>(kRagged)));
}

}  // namespace
}  // namespace tiersim::kernels::decoder_layer_test
