#pragma once
// Tables of a topology: its parts and cables, its paths, and its bisection.
#include <string>
#include <vector>

#include "hwmodels/topology/topology_facts.hpp"
#include "sim/base/table.hpp"

namespace tiersim {

/// Tables as one JSON object of their rows, by their ids.
std::string tables_json(const std::vector<Table>& tables);

/// Parts, cables, paths, halves.
std::vector<Table> topology_tables(const TopologyFacts& facts);

}  // namespace tiersim
