#pragma once
// Fit of a form (hwmodels/forms) to timings, and its errors on shapes that it did not see.
//
//  const FormFit fit = fit_form(product_form(), timings, gpu);
//  fit.unseen.median  // of the absolute errors; a shape is held out with all of its timings
#include <cstdint>
#include <string>
#include <vector>

#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct FormTiming {
  std::vector<double> sizes;  ///< by KernelForm::sizes()
  std::string shape;          ///< timings of one shape are seen or held out together
  double seconds = 0;
  std::string group = {};  ///< of several shapes; empty: in none
};

/// Errors of predictions, as (predicted - measured) / measured.
struct FitErrors {
  std::int64_t rows = 0;
  double median = 0;  ///< of the absolute errors
  double p90 = 0;     ///< 90th percentile of the absolute errors
  double bias = 0;    ///< median of the signed errors
};
FitErrors errors_of(const std::vector<double>& errors);

/// A factor between a measured time and the fit's, and its central 95 %.
struct FitScatter {
  double low = 1;
  double high = 1;
};

/// A timing and the time that a fit without its shape gives [s].
struct HeldOutTime {
  double measured = 0;
  double predicted = 0;
};

struct FormFit {
  FittedForm model;
  std::int64_t rows = 0;            ///< that the fit used
  std::int64_t outside = 0;         ///< beyond the range of the form: neither fitted nor judged
  std::vector<double> least, most;  ///< of each size, over the rows used
  FitErrors fitted;                 ///< of the fit on its own rows
  FitErrors unseen;                 ///< of five fits, each on the shapes that it did not see
  FitErrors groups;                 ///< of fits, each without one group; no rows: fewer than two
  std::vector<HeldOutTime> held_out = {};  ///< the rows behind `unseen`, by fit
  FitScatter scatter;                      ///< measured over predicted, of the unseen rows
};

/// Fewest timings in range for a fit: two for each parameter.
std::int64_t fewest_timings(const KernelForm& form);

/// At least fewest_timings(form) in range, of at least two shapes. The same timings in any order
/// give the same bits.
FormFit fit_form(const KernelForm& form, std::vector<FormTiming> timings, const GpuSheet& gpu);

}  // namespace tiersim
