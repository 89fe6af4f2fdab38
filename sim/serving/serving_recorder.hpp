#pragma once
// Metrics, counts and timeline of a record from what was observed of a run.
#include "sim/record/run_record.hpp"
#include "sim/serving/observations.hpp"

namespace tiersim {

/// `seen` is of a whole run. Leaves capacity and moves of `out.serving` as they are.
void record_serving(const ServingObservations& seen, NumberClass time_class, RunRecord& out);

}  // namespace tiersim
