#pragma once
// A run of a server, from configuration to record.
#include "sim/base/expected.hpp"
#include "sim/run/run_record.hpp"
#include "sim/run/serving/serving_config.hpp"

namespace tiersim {

/// Serves every request of the workload. The error is what does not fit, or what is wrong with the
/// trace, for the user.
Expected<RunRecord> serve(const ServingConfig& config);

}  // namespace tiersim
