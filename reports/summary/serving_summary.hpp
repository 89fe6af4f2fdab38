#pragma once
// The summary that `tiersim run` prints for a serving run: requests and servers, latencies,
// throughput, memory and time of a replica, traffic, and the classes and intervals of the numbers.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// `record.serving` must be present.
std::string serving_summary_text(const RunRecord& record);

}  // namespace tiersim
