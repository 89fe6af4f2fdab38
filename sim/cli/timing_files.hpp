#pragma once
// Tables of timings and their descriptions, as `calibrate --table` and `validate kernels` read
// them.
#include <string>
#include <vector>

#include "hwmodels/calibrate/table/timing_table.hpp"
#include "reports/calibration/timing_table_report.hpp"

namespace tiersim::cli {

/// A name in configs/calibration/tables, or a file. Throws Failure with all mistakes.
TimingTableConfig load_description(const std::string& table);

/// The rows of all files as one table, checked; the kernels of several files have the name of
/// their file before their own. Throws Failure with all mistakes.
TimingTable read_tables(const std::vector<std::string>& files, const TimingTableConfig& config,
                        const TableCeilings& ceilings);

/// The fit of a kernel's rows; without one where too few are in the range of the form.
FittedKernel fit_kernel(const KernelForm& form, const TimingKernel& kernel, const GpuSheet& gpu);

}  // namespace tiersim::cli
