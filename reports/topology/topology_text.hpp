#pragma once
// Tables of a topology: its parts and cables, its paths, and its bisection.
#include <vector>

#include "hwmodels/topology/topology_facts.hpp"
#include "sim/base/table.hpp"

namespace tiersim {

/// Parts, cables, paths.
std::vector<Table> topology_tables(const TopologyFacts& facts);

}  // namespace tiersim
