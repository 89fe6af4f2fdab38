#pragma once
// Mooncake trace (kvcache-ai/Mooncake, FAST'25 release; Qin et al.), with a JSON object on each
// line:
//
//   {"timestamp": 27000, "input_length": 1100, "output_length": 52, "hash_ids": [0, 1, 7]}
//
// The values are the milliseconds since the start of the trace, the lengths, and a name for each
// block of 512 tokens of the prompt, the last of which may be shorter. A published name stands for
// a block and all before it. The reader does not rely on this: it names blocks anew by their id and
// the name of the block before, counted from 0 as they appear. For the published traces no name
// changes.
#include <string_view>

#include "workloads/serving/trace_file_builder.hpp"

namespace tiersim {

void read_mooncake_trace(std::string_view text, TraceBuilder& out);

}  // namespace tiersim
