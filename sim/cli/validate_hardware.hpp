#pragma once
// tiersim validate hardware: devices at three levels of fidelity compared with reference curves.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

/// Adds the family `hardware` to the verb `validate`.
void add_validate_hardware(Verb validate);

}  // namespace tiersim::cli
