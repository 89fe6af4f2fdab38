#pragma once
// tiersim validate sensitivity: which case catches a change of each number of a device.
#include "sim/cli/command.hpp"

namespace tiersim::cli {

/// Adds the family `sensitivity` to the verb `validate`.
void add_validate_sensitivity(CLI::App& validate, Action& action);

}  // namespace tiersim::cli
