#pragma once
// A run of a server, from configuration to record.
#include "sim/base/expected.hpp"
#include "sim/run/run_record.hpp"
#include "sim/run/serving/serving_config.hpp"
#include "sim/run/serving/serving_trace.hpp"

namespace tiersim {

/// Serves every request of the workload. The error is what does not fit, or what is wrong with the
/// trace, for the user.
/// With `trace`, what happens is written as it happens; what cannot be served leaves a part of it.
Expected<RunRecord> serve(const ServingConfig& config, ServingTraceRequest* trace = nullptr);

}  // namespace tiersim
