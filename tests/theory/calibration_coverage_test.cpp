// Planted truth: times from known parameters with known noise are fitted and compared with them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/bootstrap.hpp"
#include "hwmodels/calibrate/fit/fit.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::calibration_coverage_test {
namespace {

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

// A device somewhere between an A100 and a B200, and a kernel with a corner of any sharpness.
KernelParameters random_truth(Rng& rng) {
  return {.t0 = (1 + 4 * rng.uniform()) * 1e-6,
          .bandwidth = (1 + 6 * rng.uniform()) * 1e12,
          .peak = (200 + 1800 * rng.uniform()) * 1e12,
          .sharpness = 1.3 + 4 * rng.uniform()};
}

// Sizes from launch-bound to 2 GB; at each size intensities as shares of the ridge.
std::vector<FitCase> timed(const KernelParameters& truth, std::size_t sizes,
                           const std::vector<double>& shares, double noise, Rng& rng) {
  const double ridge = truth.peak / truth.bandwidth;
  std::vector<FitCase> cases;
  for (std::size_t i = 0; i < sizes; ++i)
    for (const double share : shares) {
      const double bytes =
          1e5 * std::pow(2e4, static_cast<double>(i) / static_cast<double>(sizes - 1));
      const KernelPoint point{.bytes = bytes, .flops = bytes * ridge * share};
      const double seconds = kernel_time(truth, point) * std::exp(noise * normal(rng));
      // The measurement's own interval is a third of the scatter: the rest is misfit.
      cases.push_back({std::to_string(cases.size()), point, seconds,
                       seconds * std::exp(-1.96 * noise / 3),
                       seconds * std::exp(1.96 * noise / 3)});
    }
  return cases;
}

bool holds(const Estimate& estimate, double truth) {
  return estimate.low <= truth && truth <= estimate.high;
}

struct Coverage {
  int fits = 0;  // fits that show both rates
  int t0 = 0;
  int bandwidth = 0;
  int peak = 0;
  int sharpness = 0;
  int time = 0;         // the true time at a size between the timed ones
  int measurement = 0;  // the time there with noise
};

Coverage coverage_over_seeds(std::size_t sizes, const std::vector<double>& shares, double noise) {
  Coverage in;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed, "planted truth");
    const KernelParameters truth = random_truth(rng);
    const auto fit = fit_kernel(timed(truth, sizes, shares, noise, rng),
                                {.draws = 200, .seed = seed, .hold_out = false});
    if (!fit || !fit->has_bandwidth || !fit->has_peak) continue;
    const double bytes = 1e7 * (1 + rng.uniform());
    const double most = std::min(2.0, shares.back());  // no extrapolation beyond the timed range
    const KernelPoint point{.bytes = bytes,
                            .flops = bytes * truth.peak / truth.bandwidth * most * rng.uniform()};
    const double time = kernel_time(truth, point);
    std::vector<double> times;
    for (const KernelParameters& draw : fit->draws) times.push_back(kernel_time(draw, point));
    const auto freedom = static_cast<double>(shares.size() * sizes - 4);
    ++in.fits;
    in.t0 += holds(fit->t0, truth.t0);
    in.bandwidth += holds(fit->bandwidth, truth.bandwidth);
    in.peak += holds(fit->peak, truth.peak);
    in.sharpness += holds(fit->sharpness, truth.sharpness);
    in.time += holds(interval_of(kernel_time(fit->best, point), times, freedom), time);
    in.measurement += holds(predict(*fit, point), time * std::exp(noise * normal(rng)));
  }
  return in;
}

// 95 % of 200 is 190; 180 to 198 leave out 0.3 % of Binomial(200, 0.95). Fewer fits have the same
// share.
void expect_ninety_five(int covered, int fits, const char* what) {
  EXPECT_GE(covered, 180 * fits / 200) << what;
  EXPECT_LE(covered, 198 * fits / 200) << what;
}

void expect_all_ninety_five(const Coverage& in) {
  expect_ninety_five(in.t0, in.fits, "t0");
  expect_ninety_five(in.bandwidth, in.fits, "bandwidth");
  expect_ninety_five(in.peak, in.fits, "peak");
  expect_ninety_five(in.sharpness, in.fits, "sharpness");
  expect_ninety_five(in.time, in.fits, "time");
  expect_ninety_five(in.measurement, in.fits, "measurement");
}

TEST(Fit, IntervalsOfFortyCasesCoverThePlantedTruth) {
  const Coverage in = coverage_over_seeds(10, {0.05, 0.5, 1.2, 5.0}, 0.02);
  EXPECT_EQ(in.fits, 200);
  expect_all_ninety_five(in);
}

TEST(Fit, IntervalsOfTwentyFourNoisyCasesCoverThePlantedTruth) {
  const Coverage in = coverage_over_seeds(6, {0.05, 0.5, 1.2, 5.0}, 0.05);
  EXPECT_EQ(in.fits, 200);
  expect_all_ninety_five(in);
}

// Arithmetic shows only in the rounding of the corner: a sharp corner at a low rate and a round one
// at a high rate look alike. Only fits that keep both rates count. Where the F test drops one rate,
// as for every sixth of these kernels, no claim is made (fit.hpp, Ignores).
TEST(Fit, IntervalsOfAKernelThatNeverReachesTheRidgeCoverThePlantedTruth) {
  const Coverage in = coverage_over_seeds(8, {0.08, 0.24, 0.72}, 0.02);
  EXPECT_GE(in.fits, 150);
  expect_all_ninety_five(in);
}

}  // namespace
}  // namespace tiersim::calibration_coverage_test
