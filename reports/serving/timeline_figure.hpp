#pragma once
// A serving run over time: when it read prompts and put tokens out (prefill and decode), requests
// waiting and running, tokens, the pool of KV blocks and the devices, one panel below the other.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// SVG without external files. `record.serving` must be present.
std::string serving_timeline_svg(const RunRecord& record);

}  // namespace tiersim
