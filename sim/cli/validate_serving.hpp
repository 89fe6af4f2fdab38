#pragma once
// tiersim validate serving: published runs of inference servers compared with simulations.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

/// Adds the family `serving` to the verb `validate`.
void add_validate_serving(Verb validate);
/// Adds the family `energy`: the same with the shipped table of measured energy.
void add_validate_energy(Verb validate);

}  // namespace tiersim::cli
