#pragma once
// Checks the settings of a design space before anything runs. Every value of every axis is laid
// over the scenario and read, and its mistakes are reported at its place in the SPEC. Rules across
// fields are not checked here, since another axis may satisfy them: a point that violates one fails
// when it is run. Of a range, the ends and the middle are tried.
#include <memory>

#include "sim/config/document.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/scenario_files.hpp"

namespace tiersim {

/// Reports scenarios that are missing or have mistakes, and settings with mistakes.
void check_settings(const SweepConfig& config, const Document& spec, ScenarioFiles& files,
                    Diagnostics& diagnostics);

/// Finds the counts among the settings of the sweep's scenarios. All arguments must outlive the
/// result.
IsCount count_settings(const SweepConfig& config, const Document& spec, ScenarioFiles& files);

/// Both together: the design space, or null and every mistake of the SPEC and of its settings.
/// Mistakes of reading `config` may already be in `diagnostics`; the others are then reported too.
std::unique_ptr<DesignSpace> load_space(const SweepConfig& config, const Document& spec,
                                        ScenarioFiles& files, Diagnostics& diagnostics);

}  // namespace tiersim
