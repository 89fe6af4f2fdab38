#pragma once
// Metrics, counts and timeline of a record from the observations of a run.
#include "sim/record/run_record.hpp"
#include "sim/serving/observations.hpp"

namespace tiersim {

/// `seen` covers a whole run; its requests are put in the order of arrival, and its timeline gets
/// the requests that wait and run. Capacity and moves of `out.serving` stay unchanged.
void record_serving(ServingObservations& seen, NumberClass time_class, RunRecord& out);

}  // namespace tiersim
