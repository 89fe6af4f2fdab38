// Roots of functions whose roots are known.
#include "sim/sweep/crossing.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tiersim::crossing_test {
namespace {

struct Counted {
  double root = 0;
  int calls = 0;

  Expected<double> operator()(double x) {
    ++calls;
    // The shape of a gain over a bandwidth: a straight line over its logarithm far below the root,
    // and flat far above it.
    return std::log(1.25) - std::log(0.25 + root / x);
  }
};

Expected<double> found(Counted& function, const SearchScale& scale, const CrossingGuess& guess) {
  return crossing([&](double x) { return function(x); }, scale, guess);
}

TEST(Crossing, IsWithinTheToleranceFromGuessesOnBothSides) {
  const SearchScale scale({.low = 0.01, .high = 100});
  for (const double root : {0.02, 0.5, 4.0, 77.0})
    for (const double guess : {0.01, 0.4, 4.0, 100.0})
      for (const double slope : {0.0, 0.1, 1.0, 50.0}) {
        Counted function{.root = root};
        const auto x = found(function, scale, {guess, slope, true});
        ASSERT_TRUE(x);
        // The tolerance is 0.2 % of the value: a bracket of this width, or a linear estimate of
        // half of it.
        EXPECT_NEAR(*x / root, 1, 2e-3) << root << ' ' << guess << ' ' << slope;
        EXPECT_LT(function.calls, 25);
      }
}

TEST(Crossing, AGoodGuessTakesFewCalls) {
  const SearchScale scale({.low = 0.01, .high = 100});
  Counted function{.root = 4.2};
  // At the root the slope over the logarithm of x is 1 / 1.25.
  ASSERT_TRUE(found(function, scale, {4, 0.8, true}));
  EXPECT_LE(function.calls, 4);
}

TEST(Crossing, BeyondTheRangeIsItsEnd) {
  const SearchScale scale({.low = 0.01, .high = 100});
  Counted above{.root = 1000};
  EXPECT_EQ(*found(above, scale, {4, 1, true}), 100);
  Counted below{.root = 0.001};
  EXPECT_EQ(*found(below, scale, {4, 1, true}), 0.01);
}

TEST(Crossing, OfAFallingFunctionAndAnEqualEnd) {
  const SearchScale scale({.low = 1, .high = 9});
  const auto falls = [](double x) -> Expected<double> { return 5 - x; };
  EXPECT_NEAR(*crossing(falls, scale, {2, -1, false}), 5, 0.016);  // 0.2 % of the range
  EXPECT_EQ(*crossing(falls, scale, {5, -1, false}), 5);
}

TEST(Crossing, WholeNumbersStayWhole) {
  const SearchScale scale({.low = 1, .high = 64, .whole = true});
  const auto steps = [](double x) -> Expected<double> { return x - 7; };
  EXPECT_EQ(*crossing(steps, scale, {30, 1, true}), 7);
}

TEST(Crossing, ErrorsEndTheSearch) {
  const SearchScale scale({.low = 1, .high = 9});
  const auto broken = [](double) -> Expected<double> { return Unexpected(std::string("no")); };
  const auto x = crossing(broken, scale, {2, 1, true});
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error(), "no");
}

}  // namespace
}  // namespace tiersim::crossing_test
