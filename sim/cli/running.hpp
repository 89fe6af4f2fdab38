#pragma once
// Scenarios on the command line: from a loaded configuration to what became of it, or to the
// mistake at the setting that it comes from.
#include <string>
#include <vector>

#include "sim/cli/loading.hpp"
#include "sim/run/simulate.hpp"

namespace tiersim::cli {

/// One step, with intervals. `path` and `set` are those that `file` was loaded from. Throws Failure
/// with exit code bad_config where it cannot be run: what does not fit, or cannot be counted.
Simulation run_scenario(const ScenarioFile& file, const std::string& path,
                        const std::vector<std::string>& set);

}  // namespace tiersim::cli
