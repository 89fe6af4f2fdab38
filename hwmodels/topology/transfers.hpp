#pragma once
// Transfers over a topology that all begin at once: how long they take, and which link decides.
//
// The flow level is max-min fair at every instant (sim/core/flow_network.hpp). Links and flows that
// cannot be told apart are simulated once. Two flows are of one class if they have as many bytes
// and cross links of the same classes; two links are of one class if they have one capacity and the
// same number of flows of each class. Let every flow have the rate of its class in the solution for
// one link of each class, which is charged once for each of its flows. Every link then carries what
// the one of its class does, so no link is above its capacity, and a flow's bottleneck there is
// full and gives none of its flows more than this one. That is the condition that only max-min fair
// rates fulfil (Bertsekas and Gallager, Data Networks, 6.5.2). All flows of a class therefore end
// at the same instant, and the argument holds for the flows that are left.
#include <cstdint>
#include <span>
#include <vector>

#include "hwmodels/topology/topology.hpp"

namespace tiersim {

struct Transfer {
  std::int32_t from = 0;  ///< GPU
  std::int32_t to = 0;    ///< another GPU
  Bytes bytes;            ///< above 0
};

/// A flow with its path, for patterns that no pair of GPUs describes, such as reads of a pool.
struct RoutedFlow {
  LinkRoute links;
  Bytes bytes;
};

/// Each transfer on its path, or cut into Topology::paths() flows.
std::vector<RoutedFlow> routed(const Topology& topology, std::span<const Transfer> transfers);

/// Flows of one kind, of which one is simulated, and the links that stand for all that they cross.
struct FlowGroup {
  Bytes bytes;  ///< of each flow
  std::int64_t flows = 1;
  Duration latency{};  ///< of the longest path
  struct Crossing {
    std::int32_t link;   ///< the first one of its kind
    std::int64_t flows;  ///< of this group that cross that link
  };
  std::vector<Crossing> crossings;
};

/// Flows that cannot be told apart are one group (symmetry.hpp).
std::vector<FlowGroup> groups_of(const Topology& topology, std::span<const RoutedFlow> flows);
/// The same from the flows of GPU 0 alone, of which each stands for one of every GPU among these
/// ranks. Precondition: topology.are_alike(ranks).
std::vector<FlowGroup> groups_of_alike(const Topology& topology,
                                       std::span<const RoutedFlow> flows_of_first,
                                       std::int64_t ranks);

struct TransferTimes {
  Duration all{};             ///< until the last flow has ended, without latencies
  Duration least{};           ///< the time of the busiest link: no order of flows is faster
  std::int32_t busiest = -1;  ///< that link; -1 where nothing moves
  Duration latency{};         ///< of the longest path
  std::int64_t flows = 0;
  std::size_t groups = 0;
};

/// The bound alone: every link's bytes over its capacity.
TransferTimes bound_of(const Topology& topology, std::span<const FlowGroup> groups);
/// The bound and the simulation.
TransferTimes simulate(const Topology& topology, std::span<const FlowGroup> groups);

enum class Symmetry : std::uint8_t { reduced, none };

/// The instants at which the flows end, in their order.
std::vector<Duration> ends_of(const Topology& topology, std::span<const RoutedFlow> flows,
                              Symmetry symmetry = Symmetry::reduced);

}  // namespace tiersim
