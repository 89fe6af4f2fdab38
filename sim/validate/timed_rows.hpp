#pragma once
// What a system says about the rows of a table of timings: each row becomes the operation of a step
// that has its sizes, and the system's models give its time alone.
//
//  const auto answer = answer_row(system, *config.form, kernel.dtype, row);
//  if (answer) error = answer->simulated / answer->measured - 1;
#include <optional>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/table/timing_table.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// A time that was measured beside the one that a system gives [s].
struct RowAnswer {
  double measured = 0;
  double simulated = 0;
  double low = 0;       ///< 95 % interval of the simulated time
  double high = 0;      ///< likewise; equal ends where nothing was fitted
  bool beyond = false;  ///< true at sizes outside of what a fit had
};

/// Nothing where no operation of a step is of this type of operands (bf16, fp8, int8, fp4).
std::optional<RowAnswer> answer_row(const System& system, const FormColumns& form,
                                    std::string_view dtype, const TimingRow& row);

/// Rates and sizes of a system's GPU that no row can exceed.
TableCeilings ceilings_of(const System& system);

}  // namespace tiersim
