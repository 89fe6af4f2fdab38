#pragma once
// Invariants of the three readings of any step, for any configuration.
#include <string>
#include <vector>

#include "sim/step/simulate.hpp"

namespace tiersim::testing {

/// One line for each broken invariant.
std::vector<std::string> broken_invariants(const Simulation& sim);

}  // namespace tiersim::testing
