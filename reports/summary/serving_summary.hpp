#pragma once
// What `tiersim run` prints of a serving run: what was served by what, latencies, throughput, where
// the memory and the time of a replica go, what was moved, and how far the numbers can be trusted.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// `record.serving` is there.
std::string serving_summary_text(const RunRecord& record);

}  // namespace tiersim
