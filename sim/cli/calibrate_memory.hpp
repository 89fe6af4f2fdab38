#pragma once
// tiersim calibrate memory: the flow level of a DRAM from its packet level.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

void add_calibrate_memory(Verb calibrate);

}  // namespace tiersim::cli
