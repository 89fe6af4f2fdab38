#pragma once
// Weighted least squares of the kernel equation in the logarithm of time, so that a microsecond and
// a millisecond count alike. The method is Levenberg and Marquardt's, over the logarithms of t0,
// bandwidth, peak and latency and over 1/p. A term that no case determines can be held fixed.
#include <array>
#include <cstddef>
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"

namespace tiersim {

/// One case as input of the fit.
struct Observation {
  KernelPoint point;
  double log_seconds = 0;
  double weight = 1;  ///< 1 / variance of log_seconds, up to a common factor
};

/// Parameters of the equation, in the order of FreeParameters; t0 is always free.
enum class Parameter : std::size_t { t0, bandwidth, peak, sharpness, latency };
inline constexpr std::size_t kParameterCount = 5;
constexpr std::size_t at(Parameter p) {
  return static_cast<std::size_t>(p);
}
using FreeParameters = std::array<bool, kParameterCount>;

struct LeastSquares {
  KernelParameters best;
  double sum = 0;                 ///< weighted sum of squared residuals
  std::vector<double> residuals;  ///< of log_seconds: observed - fitted, unweighted
  std::vector<double> leverages;  ///< of each observation, in [0, 1]
  /// Covariance of the transformed free parameters for unit weight variance, row by row in the
  /// order of Parameter; 0 for held ones.
  std::array<std::array<double, kParameterCount>, kParameterCount> covariance{};
};

/// Variance of the fitted log time at a point, for unit weight variance.
double variance_at(const LeastSquares& fit, const FreeParameters& free, const KernelPoint& point);

/// Upper bound of p; the lower bound is 1.
inline constexpr double kSharpnessMost = 32;

/// Fit by descent from `start`; parameters that are not free keep its values.
LeastSquares fit_from(const KernelParameters& start, const FreeParameters& free,
                      const std::vector<Observation>& observations);

/// The best fit from several starting points, which are estimated from the observations.
LeastSquares fit_globally(const FreeParameters& free, const std::vector<Observation>& observations);

}  // namespace tiersim
