#pragma once
// Simulates the win maps of a paper's targets. Each variant is loaded once for each panel; its
// context and batch are then set in the loaded configuration.
#include <string>
#include <vector>

#include "reports/papers/maps/win_map_result.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "sim/config/document.hpp"

namespace tiersim {

/// The time of a step is its bound, not the engine's: both are equal for operations that run one
/// after another and share no channel with another GPU's (tests/cli/win_map_test.py). `set` lies
/// under the settings of every panel. Throws Failure with the mistakes of a file.
WinMapResult run_map(const WinMap& map, const LoadOptions& files);

std::vector<ReportSection> reproduce_maps(const Targets& targets, const LoadOptions& files);

}  // namespace tiersim
