#pragma once
// tiersim validate levels: the fidelity map, one set of workloads at three levels of fidelity.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

/// Adds the family `levels` to the verb `validate`.
void add_validate_levels(Verb validate);

}  // namespace tiersim::cli
