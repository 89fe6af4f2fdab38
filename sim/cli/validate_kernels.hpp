#pragma once
// tiersim validate kernels: tables of kernel timings beside the times that a system gives them.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

void add_validate_kernels(Verb validate);

}  // namespace tiersim::cli
