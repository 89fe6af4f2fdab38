#include "kernels/campaign/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace tiersim::kernels::bench::statistics_test {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);  // descending: the order must not matter
  return values;
}

// Tables of the order-statistic interval at 95 %: n = 10: 2nd to 9th covers 97.9 %; n = 101: 41st
// to 61st covers 95.4 % (sum of Binomial(101, 1/2) below 41 is .0231).
TEST(MedianInterval, IsThatOfTheTables) {
  const MedianInterval ten = median_interval(one_to(10));
  EXPECT_EQ(ten.median, 5.5);
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_NEAR(ten.covers, 0.978515625, 1e-12);
  const MedianInterval many = median_interval(one_to(101));
  EXPECT_EQ(many.median, 51);
  EXPECT_EQ(many.low, 41);
  EXPECT_EQ(many.high, 61);
  EXPECT_GE(many.covers, 0.95);
  EXPECT_LT(many.covers, 0.97);
}

TEST(MedianInterval, OfFewValuesIsTheRangeAndSaysWhatItCovers) {
  const MedianInterval three = median_interval(one_to(3));
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_DOUBLE_EQ(three.covers, 0.75);  // 1 - 2 / 2^3
  EXPECT_DOUBLE_EQ(median_interval({7}).covers, 0);
  EXPECT_THROW(median_interval({}), std::invalid_argument);
}

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile(one_to(11), 0.9), 10);
  EXPECT_DOUBLE_EQ(percentile(one_to(11), 1), 11);
  EXPECT_THROW(percentile({1}, 1.5), std::invalid_argument);
}

TEST(Spread, AscendsFromMinToMax) {
  const Spread s = spread(one_to(101));
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.p5, 6);
  EXPECT_EQ(s.p50, 51);
  EXPECT_EQ(s.p99, 100);
  EXPECT_EQ(s.max, 101);
}

TEST(FitLine, RecoversNodeAndLaunchTime) {
  const Line line = fit_line({1, 2, 4, 8}, {9, 11, 15, 23});  // 2 a node, 7 a launch
  EXPECT_DOUBLE_EQ(line.slope, 2);
  EXPECT_DOUBLE_EQ(line.intercept, 7);
  EXPECT_THROW(fit_line({1, 1}, {2, 3}), std::invalid_argument);
  EXPECT_THROW(fit_line({1, 2}, {2}), std::invalid_argument);
}

}  // namespace
}  // namespace tiersim::kernels::bench::statistics_test
