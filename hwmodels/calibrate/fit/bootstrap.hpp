#pragma once
// Residual bootstrap of a fit: the fit is repeated on randomly redrawn times.
#include <cstdint>
#include <vector>

#include "hwmodels/calibrate/fit/fit_terms.hpp"

namespace tiersim {

/// Parameters of `draws` fits to the fitted times plus residuals drawn with replacement. Residuals
/// are divided by sqrt(1 - leverage), so that they have the variance of the errors.
std::vector<KernelParameters> bootstrap(const TermFit& fit, int draws, std::uint64_t seed);

/// Student's 97.5 % quantile over the normal one.
double student_factor(double degrees_of_freedom);

/// The interval of 2.5 to 97.5 % of the positive values, around `value`. It is widened, in the
/// logarithm, by Student's quantile over the normal one, since few degrees of freedom estimate the
/// size of the errors poorly.
Estimate interval_of(double value, std::vector<double> values, double degrees_of_freedom);

}  // namespace tiersim
