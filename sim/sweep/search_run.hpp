#pragma once
// Runs a search by generations. A configuration that any sweep in the store has run is not
// simulated again.
#include "sim/sweep/sweep_run.hpp"

namespace tiersim {

SweepOutcome run_search(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                        const std::atomic<bool>& stop, const OnProgress& progress);

}  // namespace tiersim
