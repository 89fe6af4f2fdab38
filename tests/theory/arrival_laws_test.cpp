// Gaps and lengths against the moments of their distributions. n = 10^5 draws. Each bound is four
// standard errors, which a correct generator exceeds for one seed in 16,000:
//
//   mean        sd / sqrt(n)
//   variance    s^2 sqrt((k - 1) / n), with the kurtosis k: 9 for the exponential, 3 + 6 / shape
//               for the gamma (shape = 1 / v^2), 3 for the normal
//   skewness    is 2 v for the gamma; its third moment about 0 is checked instead, whose standard
//               error follows from the sixth: E X^m = shape (shape + 1) ... (shape + m - 1) for
//               scale 1
//   P(X > x)    sqrt(p (1 - p) / n)
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/serving/arrivals.hpp"
#include "workloads/serving/lengths.hpp"

namespace tiersim::arrival_laws_test {
namespace {

constexpr int kDraws = 100'000;
const double kRoot = std::sqrt(static_cast<double>(kDraws));

struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments moments(const std::vector<double>& values) {
  Moments out;
  for (const double v : values) out.mean += v / kDraws;
  for (const double v : values) out.variance += (v - out.mean) * (v - out.mean) / (kDraws - 1);
  return out;
}

std::vector<double> draws(const std::function<double()>& draw) {
  std::vector<double> values(kDraws);
  for (double& v : values) v = draw();
  return values;
}

std::vector<double> gaps(const ArrivalConfig& config, std::uint64_t seed) {
  Arrivals arrivals(config, seed);
  double last = to_seconds(arrivals.next().time_since_epoch());
  EXPECT_EQ(last, 0);
  return draws([&] {
    const double now = to_seconds(arrivals.next().time_since_epoch());
    const double gap = now - last;
    last = now;
    return gap;
  });
}

// At rate 4: mean 1/4 s, standard deviation 1/4 s.
TEST(PoissonArrivals, HaveExponentialGaps) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto all = gaps({.process = ArrivalProcess::poisson, .requests_per_s = 4}, seed);
    const Moments m = moments(all);
    EXPECT_NEAR(m.mean, 0.25, 4 * 0.25 / kRoot) << "seed " << seed;
    EXPECT_NEAR(m.variance, 0.0625, 4 * 0.0625 * std::sqrt(8.0) / kRoot) << "seed " << seed;
    const auto longer = std::ranges::count_if(all, [](double gap) { return gap > 0.5; });
    const double p = std::exp(-2.0);
    EXPECT_NEAR(static_cast<double>(longer) / kDraws, p, 4 * std::sqrt(p * (1 - p)) / kRoot);
  }
}

// Arrivals in intervals of 1 s at rate 4: mean and variance are both 4. Of 25,000 intervals.
TEST(PoissonArrivals, AreAsVariableInIntervalsAsAPoissonNumber) {
  Arrivals arrivals({.process = ArrivalProcess::poisson, .requests_per_s = 4}, 11);
  constexpr int kIntervals = 25'000;
  std::vector<double> counts(kIntervals, 0);
  static_cast<void>(arrivals.next());  // the arrival at time 0 is not drawn
  for (;;) {
    const auto second = static_cast<std::size_t>(to_seconds(arrivals.next().time_since_epoch()));
    if (second >= counts.size()) break;
    ++counts[second];
  }
  double mean = 0;
  double variance = 0;
  for (const double c : counts) mean += c / kIntervals;
  for (const double c : counts) variance += (c - mean) * (c - mean) / (kIntervals - 1);
  EXPECT_NEAR(mean, 4, 4 * std::sqrt(4.0 / kIntervals));
  // A Poisson number of mean 4 has kurtosis 3 + 1/4.
  EXPECT_NEAR(variance, 4, 4 * 4 * std::sqrt(2.25 / kIntervals));
}

TEST(GammaArrivals, HaveTheStatedVariation) {
  for (const double v : {0.1, 0.5, 1.0, 2.0, 5.0}) {
    const Moments m =
        moments(gaps({.process = ArrivalProcess::gamma, .requests_per_s = 4, .variation = v}, 1));
    EXPECT_NEAR(m.mean, 0.25, 4 * v * 0.25 / kRoot) << v;
    const double variance = v * v * 0.0625;
    const double kurtosis = 3 + 6 * v * v;
    EXPECT_NEAR(m.variance, variance, 4 * variance * std::sqrt((kurtosis - 1) / kDraws)) << v;
  }
}

double raw_moment(double shape, int order) {
  double product = 1;
  for (int i = 0; i < order; ++i) product *= shape + i;
  return product;
}

TEST(GammaDraws, HaveTheThirdMomentOfTheirShape) {
  for (const double shape : {0.25, 0.5, 1.0, 1.5, 4.0, 100.0}) {
    Rng rng(5, "gamma");
    double sum = 0;
    for (const double x : draws([&] { return draw_gamma(rng, shape); })) sum += x * x * x / kDraws;
    const double third = raw_moment(shape, 3);
    const double deviation = std::sqrt(raw_moment(shape, 6) - third * third);
    EXPECT_NEAR(sum, third, 4 * deviation / kRoot) << shape;
  }
}

// Shape 1/2 is half the square of a normal: P(X > 1/2) = P(|Z| > 1) = 0.317311.
TEST(GammaDraws, OfShapeOneHalfAreSquaresOfNormals) {
  Rng rng(6, "gamma");
  int above = 0;
  for (int i = 0; i < kDraws; ++i) above += draw_gamma(rng, 0.5) > 0.5;
  EXPECT_NEAR(static_cast<double>(above) / kDraws, 0.317311,
              4 * std::sqrt(0.317311 * 0.682689) / kRoot);
}

TEST(NormalDraws, AreStandard) {
  Rng rng(7, "normal");
  const auto all = draws([&] { return draw_normal(rng); });
  const Moments m = moments(all);
  EXPECT_NEAR(m.mean, 0, 4 / kRoot);
  EXPECT_NEAR(m.variance, 1, 4 * std::sqrt(2.0) / kRoot);
  constexpr std::array<std::pair<double, double>, 3> kTails{
      {{1.0, 0.158655}, {2.0, 0.0227501}, {3.0, 0.00134990}}};
  for (const auto& [z, p] : kTails) {
    const auto count = std::ranges::count_if(all, [z = z](double x) { return x > z; });
    EXPECT_NEAR(static_cast<double>(count) / kDraws, p, 4 * std::sqrt(p * (1 - p)) / kRoot) << z;
  }
}

// Median 400 and sigma 0.5, hardly ever cut: the mean is 400 exp(1/8) = 453.26, and the standard
// deviation that times sqrt(exp(1/4) - 1) = 241.55. Rounding to whole tokens moves no mean.
TEST(LognormalLengths, HaveTheMeanOfTheirMedianAndSigma) {
  Lengths lengths({.distribution = LengthDistribution::lognormal,
                   .tokens = 400,
                   .sigma = 0.5,
                   .min = 1,
                   .max = 100'000},
                  8, "lengths");
  const Moments m = moments(draws([&] { return static_cast<double>(lengths.next()); }));
  EXPECT_NEAR(m.mean, 453.26, 4 * 241.55 / kRoot);
}

// 1 to 1000: mean 500.5, variance (1000^2 - 1) / 12, kurtosis 1.8.
TEST(UniformLengths, HaveTheMomentsOfTheirRange) {
  Lengths lengths({.distribution = LengthDistribution::uniform, .min = 1, .max = 1000}, 9, "l");
  const Moments m = moments(draws([&] { return static_cast<double>(lengths.next()); }));
  const double variance = 999'999.0 / 12;
  EXPECT_NEAR(m.mean, 500.5, 4 * std::sqrt(variance) / kRoot);
  EXPECT_NEAR(m.variance, variance, 4 * variance * std::sqrt(0.8) / kRoot);
}

}  // namespace
}  // namespace tiersim::arrival_laws_test
