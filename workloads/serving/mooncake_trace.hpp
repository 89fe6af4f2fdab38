#pragma once
// Mooncake trace (kvcache-ai/Mooncake, FAST'25 release; Qin et al.): a JSON object a line,
//
//   {"timestamp": 27000, "input_length": 1100, "output_length": 52, "hash_ids": [0, 1, 7]}
//
// with the milliseconds since the start of the trace and a name for each block of 512 tokens of the
// prompt, the last of which may be shorter. A published name stands for a block and all before it.
// This is not relied upon: blocks are named again, by their id and the name of the block before,
// and counted from 0 as they appear. For the published traces that changes no name.
#include <string_view>

#include "workloads/serving/trace_file_builder.hpp"

namespace tiersim {

void read_mooncake_trace(std::string_view text, TraceBuilder& out);

}  // namespace tiersim
