#pragma once
// Simulates serving with early exit for a paper's targets: every printed cell at its concurrency
// with three hosts, and engines over a range of batches.
#include <vector>

#include "reports/papers/early_exit/batch_sweep.hpp"
#include "reports/papers/early_exit/cell_results.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "sim/config/document.hpp"

namespace tiersim {

/// `set` lies under the settings of every file. All functions throw Failure with the mistakes of a
/// file.
CellResults run_cells(const EarlyExitTargets& targets, const LoadOptions& files);
BatchSweepResult run_engine(const BatchSweep& engine, const LoadOptions& files);

/// One section for the cells and one for each engine; none if the targets have no `early_exit`.
std::vector<ReportSection> reproduce_early_exit(const Targets& targets, const LoadOptions& files);

}  // namespace tiersim
