// Batch-means intervals of a serving run, on series whose mean and memory are known: x(i) = phi
// x(i-1) + e(i) with e exponential of mean 1, so that the mean is 1 / (1 - phi) and values n apart
// have correlation phi^n. Started from its mean.
//
// Tolerance. Of N independent series a share p = 0.95 is covered, with a standard deviation of
// sqrt(p (1 - p) / N) = 0.011 at N = 400. What is left of the correlation of batches of b values,
// about 2 phi / (b (1 - phi)) of their variance, makes intervals narrower: at phi = 0.9 and b = 200
// by 4 %, which costs 1 %. So no less than 0.95 - 0.01 - 3 * 0.011 is allowed, and no more than
// 0.95 + 3 * 0.011.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/serving/quantiles.hpp"

namespace tiersim::serving_interval_test {
namespace {

constexpr int kSeries = 400;

struct Coverage {
  int given = 0;
  int covered = 0;
};

Coverage coverage(double phi, std::size_t length) {
  Coverage out;
  const double mean = 1 / (1 - phi);
  for (int s = 0; s < kSeries; ++s) {
    Rng rng(41, "series " + std::to_string(s));
    std::vector<double> series;
    double sum = 0;
    double x = mean;
    for (std::size_t i = 0; i < length; ++i) {
      x = phi * x + rng.exponential(1);
      series.push_back(x);
      sum += x;
    }
    const auto half = batch_half_width(series);
    if (!half) continue;
    ++out.given;
    if (std::abs(sum / static_cast<double>(length) - mean) <= *half) ++out.covered;
  }
  return out;
}

void expect_95_percent(const Coverage& of) {
  const double share = static_cast<double>(of.covered) / of.given;
  EXPECT_GE(share, 0.95 - 0.01 - 3 * 0.011) << of.given << " intervals, seed 41";
  EXPECT_LE(share, 0.95 + 3 * 0.011) << of.given << " intervals, seed 41";
}

TEST(BatchMeansIntervals, CoverTheMeanOfIndependentValues) {
  const Coverage of = coverage(0, 1000);
  // Batches of 20 look correlated in 5 % of all cases; of these, those of 10 in some.
  EXPECT_GE(of.given, 0.95 * kSeries);
  expect_95_percent(of);
}

TEST(BatchMeansIntervals, CoverTheMeanOfCorrelatedValues) {
  const Coverage of = coverage(0.9, 4000);
  EXPECT_GE(of.given, 0.9 * kSeries);
  expect_95_percent(of);
}

// A memory of 1000 values in a series of 2000: most are refused; ten batches show no more.
TEST(BatchMeansIntervals, AreNotGivenWhereTheSeriesIsTooShortForItsMemory) {
  EXPECT_LE(coverage(0.999, 2000).given, kSeries / 2);
}

}  // namespace
}  // namespace tiersim::serving_interval_test
