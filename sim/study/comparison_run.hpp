#pragma once
// Simulates the curves and speed-up grids of a paper's targets. Files are loaded once for each
// machine and variant; all other parameters are set in the loaded configuration.
#include <vector>

#include "reports/papers/comparisons/curves_result.hpp"
#include "reports/papers/comparisons/grid_result.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "sim/config/document.hpp"

namespace tiersim {

/// `set` lies under the settings of every point. Throws Failure with the mistakes of a file.
CurvesResult run_curves(const Curves& curves, const VariantLists& lists, const LoadOptions& files);
GridResult run_grid(const SpeedupGrid& grid, const VariantLists& lists, const LoadOptions& files);

/// Sections of both kinds for all targets, in their order.
std::vector<ReportSection> reproduce_comparisons(const Targets& targets, const LoadOptions& files);

}  // namespace tiersim
