#pragma once
// Serving files on the command line: from a loaded configuration to its record, or to the mistake
// at the key that it comes from.
#include "sim/cli/loading.hpp"
#include "sim/run/run_record.hpp"
#include "sim/run/serving/serving_trace.hpp"

namespace tiersim::cli {

/// Serves all requests. Throws Failure with exit code bad_config where that cannot be.
RunRecord run_serving(const ServingFile& file, ServingTraceRequest* trace = nullptr);

}  // namespace tiersim::cli
