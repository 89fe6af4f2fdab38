#include "hwmodels/calibrate/fit/bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {
namespace {

// Residuals scaled to unit weight and divided by sqrt(1 - leverage), so that they have the variance
// of the errors.
std::vector<double> freed_residuals(const TermFit& fit) {
  std::vector<double> out;
  double sum = 0;
  for (std::size_t i = 0; i < fit.observations.size(); ++i) {
    // A case of leverage near 1 says nothing about the errors; the bound avoids a division by 0.
    const double left = std::max(0.05, 1 - fit.solution.leverages[i]);
    out.push_back(fit.solution.residuals[i] * std::sqrt(fit.observations[i].weight / left));
    sum += out.back();
  }
  for (double& r : out) r -= sum / static_cast<double>(out.size());
  return out;
}

}  // namespace

std::vector<KernelParameters> bootstrap(const TermFit& fit, int draws, std::uint64_t seed) {
  const std::vector<double> residuals = freed_residuals(fit);
  Rng rng(seed, "bootstrap");
  std::vector<KernelParameters> out;
  std::vector<Observation> again = fit.observations;
  for (int draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < again.size(); ++i) {
      const double fitted = fit.observations[i].log_seconds - fit.solution.residuals[i];
      again[i].log_seconds =
          fitted + residuals[rng.below(residuals.size())] / std::sqrt(again[i].weight);
    }
    out.push_back(fit_from(fit.solution.best, fit.free, again).best);
  }
  return out;
}

Estimate interval_of(double value, std::vector<double> values, double degrees_of_freedom) {
  const double wider = student_factor(degrees_of_freedom);
  const double low = quantile_of(values, 0.025);
  const double high = quantile_of(std::move(values), 0.975);
  return {value, value * portable_pow(std::min(1.0, low / value), wider),
          value * portable_pow(std::max(1.0, high / value), wider)};
}

double student_factor(double degrees_of_freedom) {
  constexpr double kNormal = 1.959964;
  return quantile(boost::math::students_t(degrees_of_freedom), 0.975) / kNormal;
}

}  // namespace tiersim
