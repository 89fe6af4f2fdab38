#pragma once
// Weighted least squares of the kernel equation in the logarithm of time, so that a microsecond and
// a millisecond count alike. Levenberg and Marquardt's method over the logarithms of t0, bandwidth,
// peak and latency and over 1/p; a term that no case shows can be held.
#include <array>
#include <cstddef>
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"

namespace tiersim {

/// One case as the fit sees it.
struct Observation {
  KernelPoint point;
  double log_seconds = 0;
  double weight = 1;  ///< 1 / variance of log_seconds, up to a common factor
};

/// Which parameters are free, in the order of Parameter; t0 always is.
enum class Parameter : std::size_t { t0, bandwidth, peak, sharpness, latency };
inline constexpr std::size_t kParameterCount = 5;
constexpr std::size_t at(Parameter p) {
  return static_cast<std::size_t>(p);
}
using FreeParameters = std::array<bool, kParameterCount>;

struct LeastSquares {
  KernelParameters best;
  double sum = 0;                 ///< of weighted squared residuals
  std::vector<double> residuals;  ///< of log_seconds: observed - fitted, unweighted
  std::vector<double> leverages;  ///< of each observation, in [0, 1]
  /// Covariance of the transformed free parameters for unit weight variance, row by row in the
  /// order of Parameter; 0 for held ones.
  std::array<std::array<double, kParameterCount>, kParameterCount> covariance{};
};

/// Variance of the fitted log time at a point, for unit weight variance.
double variance_at(const LeastSquares& fit, const FreeParameters& free, const KernelPoint& point);

/// p is between 1 and this.
inline constexpr double kSharpnessMost = 32;

/// From `start`; what is not free keeps its value there.
LeastSquares fit_from(const KernelParameters& start, const FreeParameters& free,
                      const std::vector<Observation>& observations);

/// From several starts that the observations suggest; the best of them.
LeastSquares fit_globally(const FreeParameters& free, const std::vector<Observation>& observations);

}  // namespace tiersim
