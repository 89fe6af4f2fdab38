// The grid of the values that a search tries.
#include "sim/runner/value_grid.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tiersim::value_grid_test {
namespace {

constexpr ValueGrid kFour{.digits = 4, .unit_exponent = -12};
constexpr ValueGrid kQuantity{.digits = 7, .unit_exponent = 0};
constexpr ValueGrid kWhole{.digits = 18, .unit_exponent = 0};

TEST(ValueGrid, NeighboursDifferByOneInTheLastDigit) {
  const std::int64_t place = kFour.nearest(20.37);
  EXPECT_EQ(kFour.value(place), 20.37);
  EXPECT_EQ(kFour.value(place + 1), 20.38);
  EXPECT_EQ(kFour.value(kFour.nearest(9.999) + 1), 10.0);
  EXPECT_EQ(kFour.value(kFour.nearest(10.0) + 1), 10.01);
  EXPECT_EQ(kFour.value(kFour.nearest(1e9) - 1), 999.9e6);
  EXPECT_EQ(kFour.value(kFour.nearest(0.001234)), 0.001234);
}

TEST(ValueGrid, PlacesRiseWithValues) {
  for (const ValueGrid& grid : {kFour, kQuantity, kWhole})
    for (double x = 0.37; x < 1e12; x *= 1.7) {
      const std::int64_t below = grid.floor(x);
      EXPECT_LE(grid.value(below), x);
      EXPECT_GT(grid.value(below + 1), x);
      EXPECT_EQ(grid.ceil(x), grid.value(below) == x ? below : below + 1);
      EXPECT_EQ(grid.nearest(grid.value(below)), below);
      EXPECT_EQ(grid.floor(-x), -grid.ceil(x));
      EXPECT_LE(grid.value(below + 1) - grid.value(below),
                std::max(x * std::pow(10, 1 - grid.digits), std::pow(10, grid.unit_exponent)) *
                    (1 + 1e-12));
    }
}

// 12345.6 ps are 12345 or 12346 ps; 1234567890 B/s have seven digits.
TEST(ValueGrid, QuantitiesAreWholeUnits) {
  EXPECT_EQ(kQuantity.value(kQuantity.floor(12345.6)), 12345);
  EXPECT_EQ(kQuantity.value(kQuantity.floor(1234567890)), 1234567000);
  EXPECT_EQ(kWhole.value(kWhole.floor(1234567890)), 1234567890);
}

TEST(ValueGrid, SamplesArePreferredNumbersWithinTheRange) {
  std::vector<double> at;
  for (const std::int64_t place : kFour.samples(kFour.floor(2), kFour.ceil(23)))
    at.push_back(kFour.value(place));
  EXPECT_EQ(at, (std::vector<double>{2.5, 3.15, 4, 5, 6.3, 8, 10, 12.5, 16, 20}));
  at.clear();
  for (const std::int64_t place : kWhole.samples(1, 12)) at.push_back(kWhole.value(place));
  EXPECT_EQ(at, (std::vector<double>{2, 3, 4, 5, 6, 8, 10}));
}

TEST(ValueGrid, BisectionVisitsTheRoundestNumbers) {
  EXPECT_EQ(roundest_between(0, 100), 64);
  EXPECT_EQ(roundest_between(64, 100), 96);
  EXPECT_EQ(roundest_between(65, 67), 66);
  EXPECT_EQ(roundest_between(-5, 7), 0);
  EXPECT_EQ(roundest_between(1, 3), 2);
}

}  // namespace
}  // namespace tiersim::value_grid_test
