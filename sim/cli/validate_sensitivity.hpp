#pragma once
// tiersim validate sensitivity: the case that detects a change of each number of a device.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

/// Adds the family `sensitivity` to the verb `validate`.
void add_validate_sensitivity(Verb validate);

}  // namespace tiersim::cli
