#pragma once
// Runs a server, from configuration to record.
#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"
#include "sim/serving/listener.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// Serves every request of the workload. The error tells the user what does not fit, or what is
/// wrong with the trace. `listener` receives the events as they happen, also in a run that cannot
/// be served to its end. Replicas that share nothing are simulated on `threads` >= 1 threads
/// (apart.hpp), and with a listener, which sees all events in order of time, on one; the record is
/// the same.
Expected<RunRecord> serve(const ServingConfig& config, ServingListener* listener = nullptr,
                          int threads = 1);

}  // namespace tiersim
