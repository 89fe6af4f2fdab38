#pragma once
// Model card: fit (of kernel_fit.hpp's equation)
//   Models    the cases of one kernel in one regime: every parameter with its interval, and the
//             errors of the fit on held-out cases.
//   Equation  least squares of log time; weights from the cases' own intervals and the scatter
//             beyond them. A term is kept where an F test at 1 % finds it in the cases.
//             Intervals: residual bootstrap, residuals over sqrt(1 - leverage), 2.5 to 97.5 %,
//             wider by Student's quantile; of p by its profile, and where that reaches an end of
//             its range, of the rates by the wider of bootstrap and profile. The monotone table is
//             kept where it lowers the squared error in each of three folds of cross-validation.
//   Ignores   errors that cases share: of a clock, of a formula for bytes. A dropped term: the
//             intervals of the others are as if it had never been there, and too narrow where
//             the F test was close. Scatter that grows with size and that no interval states.
//   Valid     sizes and intensities between those timed; at least kFewestCases. Beyond the highest
//             intensity intervals are too narrow where the cases hardly determine p.
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
  double low = 0;  ///< lower end of the measurement's 95 % interval; `seconds` where there is none
  double high = 0;
};

/// Rates that the device cannot beat; 0 where not known. Where all cases of a kernel have the same
/// FLOPs a byte, its time shows only one rate: that of the ceiling it comes closer to.
struct Ceilings {
  double bandwidth = 0;  ///< B/s
  double peak = 0;       ///< FLOP/s
};

struct FitOptions {
  int draws = 400;  ///< bootstrap draws
  std::uint64_t seed = 1;
  Ceilings ceilings = {};
  bool hold_out = true;  ///< false: no errors on held-out cases, in a third of the time
};

/// Fewest cases of a fit: four for t0, bandwidth, peak and p, and two to judge them. Intervals of
/// so few cases are wide.
inline constexpr std::size_t kFewestCases = 6;

/// Fits the equation to the cases; the caller fills in the names and the origin. The error says why
/// these cases give no fit. Times and intervals must be positive and in order.
Expected<KernelFit> fit_kernel(std::vector<FitCase> cases, const FitOptions& options = {});

/// Predicted time at a point, with the 95 % interval of a new measurement.
Estimate predict(const KernelFit& fit, const KernelPoint& point);

/// Error statistics of the cases; all zero where there are none.
ErrorSummary summarise(const std::vector<CaseError>& cases);

}  // namespace tiersim
