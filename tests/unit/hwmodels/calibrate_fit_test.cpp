#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/fit.hpp"
#include "hwmodels/calibrate/fit/least_squares.hpp"
#include "hwmodels/calibrate/fit/time_table.hpp"

namespace tiersim::calibrate_fit_test {
namespace {

constexpr KernelParameters kTruth{.t0 = 2e-6, .bandwidth = 4e12, .peak = 800e12, .sharpness = 2};

// 1 % up or down, in an order independent of size and intensity.
double wiggle(std::size_t i) {
  return (i * 2654435761U >> 16U) % 2 == 0 ? 1.01 : 1 / 1.01;
}

std::vector<FitCase> cases_of(const KernelParameters& truth, const std::vector<double>& bytes,
                              const std::vector<double>& flops_a_byte) {
  std::vector<FitCase> cases;
  for (const double b : bytes)
    for (const double intensity : flops_a_byte) {
      const KernelPoint point{.bytes = b, .flops = b * intensity};
      const double seconds = kernel_time(truth, point) * wiggle(cases.size());
      cases.push_back({"case" + std::to_string(cases.size()), point, seconds, seconds, seconds});
    }
  return cases;
}

std::vector<double> sizes() {
  return {1e5, 1e6, 1e7, 3e7, 1e8, 3e8, 1e9, 2e9};
}

TEST(KernelTime, IsLaunchAndTheRoundedCornerOfMemoryAndArithmetic) {
  // 3 us of memory and 4 us of arithmetic at p = 2: 5 us.
  const KernelPoint point{.bytes = 12e6, .flops = 3.2e9};
  EXPECT_NEAR(kernel_time(kTruth, point), 7e-6, 1e-18);
  // A tail of 2 doubles the arithmetic: (3^2 + 8^2)^(1/2).
  EXPECT_NEAR(kernel_time(kTruth, {.bytes = 12e6, .flops = 3.2e9, .tail = 2}),
              2e-6 + std::sqrt(73.0) * 1e-6, 1e-18);
}

TEST(KernelTime, IsLimitedByBytesInFlight) {
  KernelParameters p = kTruth;
  p.latency = 1e-6;
  EXPECT_NEAR(kernel_time(p, {.bytes = 12e6, .bytes_in_flight = 1e6}), 14e-6, 1e-18);
  EXPECT_NEAR(kernel_time(p, {.bytes = 12e6, .bytes_in_flight = 8e6}), 5e-6, 1e-18);
}

// Without residuals the least squares are the truth itself.
TEST(LeastSquares, FindWhatMadeTheTimes) {
  std::vector<Observation> observations;
  for (const double bytes : sizes())
    for (const double intensity : {10.0, 100.0, 200.0, 1000.0}) {
      const KernelPoint point{.bytes = bytes, .flops = bytes * intensity};
      observations.push_back({point, std::log(kernel_time(kTruth, point)), 1});
    }
  const LeastSquares found = fit_globally({true, true, true, true, false}, observations);
  EXPECT_NEAR(found.best.t0 / kTruth.t0, 1, 1e-6);
  EXPECT_NEAR(found.best.bandwidth / kTruth.bandwidth, 1, 1e-6);
  EXPECT_NEAR(found.best.peak / kTruth.peak, 1, 1e-6);
  EXPECT_NEAR(found.best.sharpness, kTruth.sharpness, 1e-5);
  EXPECT_LT(found.sum, 1e-12);
}

// The trace of the hat matrix is the number of parameters.
TEST(LeastSquares, LeveragesAddUpToTheParameters) {
  std::vector<Observation> observations;
  for (const FitCase& c : cases_of(kTruth, sizes(), {10, 200, 1000}))
    observations.push_back({c.point, std::log(c.seconds), 1});
  const LeastSquares found = fit_globally({true, true, true, true, false}, observations);
  double sum = 0;
  for (const double leverage : found.leverages) sum += leverage;
  EXPECT_NEAR(sum, 4, 1e-6);
}

// One interval in 20 misses; a distance of a whole width, four standard errors, is no chance.
TEST(Fit, IsLessThanAnIntervalsWidthFromTheTruth) {
  const auto fit = fit_kernel(cases_of(kTruth, sizes(), {10, 100, 200, 1000}));
  ASSERT_TRUE(fit);
  for (const auto& [estimate, truth] :
       {std::pair{fit->t0, kTruth.t0}, std::pair{fit->bandwidth, kTruth.bandwidth},
        std::pair{fit->peak, kTruth.peak}, std::pair{fit->sharpness, kTruth.sharpness}}) {
    EXPECT_LT(std::abs(estimate.value - truth), estimate.high - estimate.low);
    EXPECT_LT(estimate.low, estimate.value);
    EXPECT_GT(estimate.high, estimate.value);
  }
  EXPECT_GT(fit->in_sample.worst, 0.005);
  EXPECT_LT(fit->in_sample.worst, 0.02);
}

TEST(Fit, ARateThatNoCaseShowsIsNotReported) {
  const auto fit = fit_kernel(cases_of(kTruth, sizes(), {0.5}));
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->has_bandwidth);
  EXPECT_FALSE(fit->has_peak);
  EXPECT_TRUE(std::isinf(fit->best.peak));
  ASSERT_FALSE(fit->notes.empty());
  EXPECT_EQ(fit->notes.front(), "arithmetic never takes long enough to show its rate");
}

// All cases have the same FLOPs a byte, so either rate explains the times; the ceilings decide.
TEST(Fit, TheCeilingsTellArithmeticFromMemory) {
  const FitOptions options{.ceilings = {.bandwidth = 4.8e12, .peak = 989e12}};
  const auto moved = fit_kernel(cases_of(kTruth, sizes(), {0.5}), options);
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->has_bandwidth);
  const auto computed = fit_kernel(cases_of(kTruth, sizes(), {1e6}), options);
  ASSERT_TRUE(computed);
  EXPECT_TRUE(computed->has_peak);
  EXPECT_FALSE(computed->has_bandwidth);
}

TEST(Fit, SeesALatencyWhereBytesInFlightLimit) {
  KernelParameters truth = kTruth;
  truth.latency = 1e-6;
  std::vector<FitCase> cases;
  for (const double bytes : sizes())
    for (const double in_flight : {2e5, 1e6, 8e6}) {
      const KernelPoint point{.bytes = bytes, .flops = 0, .bytes_in_flight = in_flight};
      const double seconds = kernel_time(truth, point) * wiggle(cases.size());
      cases.push_back({std::to_string(cases.size()), point, seconds, seconds, seconds});
    }
  const auto fit = fit_kernel(cases);
  ASSERT_TRUE(fit);
  ASSERT_TRUE(fit->has_latency);
  EXPECT_LT(fit->latency.low, 1e-6);
  EXPECT_GT(fit->latency.high, 1e-6);
  EXPECT_LT(fit->latency.high, 1.1e-6);
}

TEST(Fit, TooFewCasesAreNoFit) {
  const auto fit = fit_kernel(cases_of(kTruth, {1e6, 1e7, 1e8, 1e9, 2e9}, {10}));
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error(), "5 cases, where a fit needs 6");
}

TEST(Fit, CasesWithoutWorkAreNoFit) {
  const std::vector<FitCase> cases(8, {"empty", {}, 1e-6, 1e-6, 1e-6});
  const auto fit = fit_kernel(cases);
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error(), "no case moves a byte or computes anything");
}

// Of 32 cases by size, those at 2, 5, 8 ... and the last.
TEST(Fit, HoldsEveryThirdCaseOutAndTheLargest) {
  const auto fit = fit_kernel(cases_of(kTruth, sizes(), {10, 100, 200, 1000}));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->in_sample.count, 32);
  EXPECT_EQ(fit->held_out.count, 10);
  EXPECT_EQ(fit->largest.count, 1);
  const CaseError& last = fit->cases.back();
  EXPECT_TRUE(last.largest);
  EXPECT_EQ(last.name, "case31");
  EXPECT_EQ(fit->largest.worst_case, "case31");
}

// The largest case takes twice as long as the others predict, so its held-out error is one half.
TEST(Fit, AHeldOutCaseDoesNotExplainItself) {
  std::vector<FitCase> cases = cases_of(kTruth, sizes(), {10, 100, 200, 1000});
  FitCase& last = cases.back();
  last.seconds *= 2;
  last.low = last.high = last.seconds;
  const auto fit = fit_kernel(cases);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->largest.signed_mean, -0.5, 0.02);
  EXPECT_GT(std::abs(fit->largest.worst), fit->in_sample.worst);
}

TEST(Fit, SaysTheSameEveryTime) {
  const auto cases = cases_of(kTruth, sizes(), {10, 100, 1000});
  const KernelFit a = *fit_kernel(cases);
  const KernelFit b = *fit_kernel(cases);
  EXPECT_EQ(a.t0.low, b.t0.low);
  EXPECT_EQ(a.bandwidth.high, b.bandwidth.high);
  EXPECT_EQ(a.correlation, b.correlation);
}

// The order of rows in a file must not change the fit.
TEST(Fit, DoesNotDependOnTheOrderOfTheCases) {
  auto cases = cases_of(kTruth, sizes(), {10, 100, 1000});
  const KernelFit forward = *fit_kernel(cases);
  std::ranges::reverse(cases);
  EXPECT_EQ(fit_kernel(cases)->bandwidth.value, forward.bandwidth.value);
}

TEST(TimeTable, GoesThroughItsKnotsAndOnWithTheEndRatios) {
  const std::vector<TimeKnot> table{{1e-6, 2e-6}, {1e-5, 1.5e-5}, {1e-4, 1e-4}, {1e-3, 3e-3}};
  for (const TimeKnot& knot : table)
    EXPECT_NEAR(through_table(table, knot.modelled) / knot.measured, 1, 1e-12);
  EXPECT_NEAR(through_table(table, 1e-7), 2e-7, 1e-19);
  EXPECT_NEAR(through_table(table, 1e-2), 3e-2, 1e-14);
  double before = 0;
  for (double t = 1e-7; t < 1e-2; t *= 1.05) {
    EXPECT_GE(through_table(table, t), before) << t;
    before = through_table(table, t);
  }
}

TEST(TimeTable, PoolsWhatFalls) {
  std::vector<TimePair> pairs;
  for (int i = 0; i < 40; ++i) {
    const double t = 1e-6 * std::pow(1.3, i);
    pairs.push_back({t, t * (i % 10 < 5 ? 3 : 0.3), 1});
  }
  const std::vector<TimeKnot> table = build_table(pairs);
  for (std::size_t i = 1; i < table.size(); ++i) {
    EXPECT_LT(table[i - 1].modelled, table[i].modelled);
    EXPECT_LT(table[i - 1].measured, table[i].measured);
  }
}

TEST(TimeTable, NineteenCasesGiveNone) {
  const std::vector<TimePair> pairs(19, {1e-6, 1e-6, 1});
  EXPECT_TRUE(build_table(pairs).empty());
}

// A step of 30 % in the middle of the range cannot be expressed by t0, bandwidth and peak. Beyond
// the smoothing of the table it disappears.
TEST(Fit, TakesATableWhereTheEquationIsNotEnough) {
  std::vector<double> many;
  for (int i = 0; i < 48; ++i) many.push_back(1e6 * std::pow(1.2, i));
  auto cases = cases_of(kTruth, many, {0.1});
  for (FitCase& c : cases) {
    if (c.point.bytes < 1e7 || c.point.bytes > 3e8) continue;
    c.seconds *= 1.3;
    c.low = c.high = c.seconds;
  }
  const auto fit = fit_kernel(cases);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->table.empty());
  const auto plain = fit_kernel(cases_of(kTruth, many, {0.1}));
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->table.empty());
}

}  // namespace
}  // namespace tiersim::calibrate_fit_test
