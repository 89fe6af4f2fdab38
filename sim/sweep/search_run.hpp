#pragma once
// Runs a search: generations, of which only the first to do a point in any sweep simulates it.
#include "sim/sweep/sweep_run.hpp"

namespace tiersim {

SweepOutcome run_search(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                        const std::atomic<bool>& stop, const OnProgress& progress);

}  // namespace tiersim
