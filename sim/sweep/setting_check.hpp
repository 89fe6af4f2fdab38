#pragma once
// Whether the settings of a design space are any good, before anything runs: every value of every
// axis is laid over the scenario and read, and what is wrong with it is reported where it stands in
// the SPEC. Rules across fields do not count here, since another axis may make them right: a point
// that breaks one fails when it is run. Of a range the ends and the middle are tried.
#include <memory>

#include "sim/config/document.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/scenario_files.hpp"

namespace tiersim {

/// Reports scenarios that there are not or that have mistakes, and settings that have.
void check_settings(const SweepConfig& config, const Document& spec, ScenarioFiles& files,
                    Diagnostics& diagnostics);

/// Knows the counts among the settings of the sweep's scenarios. All arguments outlive it.
IsCount count_settings(const SweepConfig& config, const Document& spec, ScenarioFiles& files);

/// Both at once: the design space, or null and every mistake of the SPEC and of its settings.
/// Reading `config` may have had mistakes, which `diagnostics` has then; the others come up as
/// well.
std::unique_ptr<DesignSpace> load_space(const SweepConfig& config, const Document& spec,
                                        ScenarioFiles& files, Diagnostics& diagnostics);

}  // namespace tiersim
