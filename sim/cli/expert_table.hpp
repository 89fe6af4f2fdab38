#pragma once
// How evenly the routed tokens of a scenario load its GPUs, for its placement of experts and for
// others: what copies of popular experts are worth.
#include "sim/base/table.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim::cli {

/// Expects a model whose experts are spread over GPUs, and `step.expert_load`.
Table expert_table(const ScenarioConfig& config);

}  // namespace tiersim::cli
