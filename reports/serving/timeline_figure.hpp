#pragma once
// How a serving run went, over its time: requests waiting and running, tokens, the pool of KV
// blocks and the devices, one below the other.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// SVG that needs nothing besides itself. `record.serving` is there.
std::string serving_timeline_svg(const RunRecord& record);

}  // namespace tiersim
