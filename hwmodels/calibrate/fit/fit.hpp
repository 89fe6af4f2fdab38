#pragma once
// Model card: fit (of kernel_fit.hpp's equation)
//   Models    the cases of one kernel in one regime: every number with its interval, and what the
//             fit is worth on cases that it did not see.
//   Equation  least squares of log time; weights from the cases' own intervals and the scatter
//             beyond them. A term is kept where an F test says at 1 % that the cases show it.
//             Intervals: residual bootstrap, residuals over sqrt(1 - leverage), 2.5 to 97.5 %,
//             wider by Student's quantile; of p by its profile, and where that reaches an end of
//             its range, of the rates by the wider of bootstrap and profile. The monotone table is
//             kept where it lowers the squared error in each of three folds of cross-validation.
//   Ignores   errors that cases share: of a clock, of a formula for bytes. That a term was dropped:
//             intervals of the others are as if it had never been there, and too narrow where it
//             was hardly missed. Scatter that grows with size and that no interval states.
//   Valid     sizes and intensities between those timed; kFewestCases and more. Beyond the highest
//             intensity intervals are too narrow where the cases hardly show p.
//   Source    Davison and Hinkley, Bootstrap Methods and their Application, chapter 6.
//   Checked   tests/unit/hwmodels/calibrate_fit_test.cpp: parts;
//             tests/theory/calibration_coverage_test.cpp: planted truth over 200 seeds
#include <cstdint>
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"
#include "sim/base/expected.hpp"

namespace tiersim {

struct FitCase {
  std::string name;
  KernelPoint point;
  double seconds = 0;
  double low = 0;  ///< of the measurement's 95 % interval; equal to `seconds` where none
  double high = 0;
};

/// Rates that the device cannot beat; 0 where not known. They say which of the two a kernel shows
/// whose cases all compute as much a byte: the one that it comes closer to.
struct Ceilings {
  double bandwidth = 0;  ///< B/s
  double peak = 0;       ///< FLOP/s
};

struct FitOptions {
  int draws = 400;  ///< of the bootstrap
  std::uint64_t seed = 1;
  Ceilings ceilings = {};
  bool hold_out = true;  ///< false: no errors on unseen cases, in a third of the time
};

/// Least number of cases of a fit: t0, bandwidth, peak and p, and two to judge them. Intervals of
/// so few are wide.
inline constexpr std::size_t kFewestCases = 6;

/// Fills everything of the fit but what names its origin. The error says why these cases give no
/// fit. Times and intervals are positive and in order.
Expected<KernelFit> fit_kernel(std::vector<FitCase> cases, const FitOptions& options = {});

/// What the fit says of a point: its time with the interval that a new measurement falls in.
Estimate predict(const KernelFit& fit, const KernelPoint& point);

/// Figures over the cases; all zero where there are none.
ErrorSummary summarise(const std::vector<CaseError>& cases);

}  // namespace tiersim
