#pragma once
// What a check of a table of timings found, and the errors of its fits, as tables.
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/table/timing_table.hpp"
#include "sim/base/table.hpp"

namespace tiersim {

/// The fit of one kernel of a table; without one where its rows are too few.
struct FittedKernel {
  const TimingKernel* kernel = nullptr;
  std::optional<FormFit> fit = {};
};

/// "4.2 %" of a fraction.
Cell share_cell(double share);

/// Rows read and refused, and the noise floor, by kernel.
Table rows_table(const TimingTable& table);
/// Refused rows by rule, with an example of each.
Table refusals_table(const TimingTable& table);
/// Errors on shapes that a fit did not see, beside those on its own rows and the noise floor.
Table errors_table(const std::vector<FittedKernel>& fits);
/// Parameters of the fits.
Table parameters_table(const std::vector<FittedKernel>& fits);

}  // namespace tiersim
