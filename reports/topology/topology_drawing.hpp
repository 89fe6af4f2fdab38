#pragma once
// A drawing of a topology: one node with its parts, and the switches between nodes above it.
#include <string>

#include "hwmodels/topology/topology_config.hpp"
#include "hwmodels/topology/topology_facts.hpp"

namespace tiersim {

/// A whole SVG file.
std::string topology_svg(const TopologyConfig& config, const TopologyFacts& facts);

}  // namespace tiersim
