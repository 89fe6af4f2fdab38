#pragma once
// What must hold between the three readings of any step, whatever the configuration.
#include <string>
#include <vector>

#include "sim/step/simulate.hpp"

namespace tiersim::testing {

/// One line for each that does not hold.
std::vector<std::string> broken_invariants(const Simulation& sim);

}  // namespace tiersim::testing
