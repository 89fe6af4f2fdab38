#pragma once
// Classes of flows and links that cannot be told apart (transfers.hpp has the argument).
#include <cstdint>
#include <span>
#include <vector>

#include "hwmodels/topology/transfers.hpp"

namespace tiersim {

struct FlowClasses {
  std::vector<std::int32_t> of_flow;  ///< class of each flow
  std::vector<std::int32_t> first;    ///< one flow of each class
  std::vector<std::int32_t> of_link;  ///< class of each link; -1 where no flow crosses it
  std::vector<std::int32_t> first_link;
};

/// The coarsest classes in which flows and links are alike (colour refinement, as by Weisfeiler and
/// Leman). Takes time and memory in proportion to the hops of all flows, for each of a few rounds.
FlowClasses classes_of(const Topology& topology, std::span<const RoutedFlow> flows);

}  // namespace tiersim
