#pragma once
// tiersim validate hardware: devices at three levels of fidelity beside reference curves.
#include "sim/cli/command.hpp"

namespace tiersim::cli {

/// Adds the family `hardware` to the verb `validate`.
void add_validate_hardware(CLI::App& validate, Action& action);

}  // namespace tiersim::cli
