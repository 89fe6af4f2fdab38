#pragma once
// The flows of a collective over a topology, by algorithm. Ranks are the GPUs 0 to ranks - 1.
// Below, n ranks on N nodes of g GPUs have the size S, and C rings or trees each take an adapter of
// their own. Steps of a phase repeat each other, and phases follow each other.
//
// ring: ranks in the order of their nodes, C times, each from another GPU on. One step moves S / (n
// C) from each rank to the next; all_reduce has 2 (n - 1) steps, reduce_scatter and all_gather n
// - 1.
//
// tree (all_reduce): two binary trees over the nodes (Sanders, Speck and Traff 2009) and a chain
// inside a node; each edge carries S / (2 C) up and down, all at the same time.
//
// nvls (all_reduce): the domain's switch adds up and copies, (1 + 1/g) S through each port; between
// domains two trees for each adapter, at the same time.
//
// hierarchical: pieces inside a domain, then a ring over domains by each rail, then back.
//
// direct: a piece from each rank to every other, all at the same time.
//
// two_level (all_to_all): over NVLink to the GPU on the receiver's rail, then along the rail.
//
// moe_normal (all_to_all): tokens go once to each node with one of their experts, along the rail,
// and there once to each GPU (DeepEP's normal kernels, NVIDIA's hybrid EP).
//
// moe_low_latency (all_to_all): tokens go to each of their experts by themselves (DeepEP's low
// latency).
#include <array>
#include <string_view>
#include <vector>

#include "hwmodels/topology/transfers.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

enum class RoutedAlgorithm : std::uint8_t {
  ring,
  tree,
  nvls,
  hierarchical,
  direct,
  two_level,
  moe_normal,
  moe_low_latency,
};
inline constexpr std::array<std::string_view, 8> kRoutedAlgorithmNames{
    "ring", "tree", "nvls", "hierarchical", "direct", "two_level", "moe_normal", "moe_low_latency"};
constexpr std::string_view name(RoutedAlgorithm a) {
  return kRoutedAlgorithmNames[static_cast<std::size_t>(a)];
}

/// The ranks whose flows are made.
enum class FlowsOf : std::uint8_t { first_if_alike, all };

struct CollectivePhase {
  std::vector<RoutedFlow> flows;  ///< of one step
  bool of_first = false;          ///< of rank 0 alone, and every rank has the same
  std::int64_t steps = 1;
  std::int64_t near_hops = 0;  ///< of all steps that follow each other, inside a domain
  std::int64_t far_hops = 0;   ///< between domains
  std::int64_t peers = 0;      ///< messages that a rank sends to others, one after another
};

/// True where the algorithm serves this operation among so many ranks.
bool serves(RoutedAlgorithm algorithm, const Topology& topology, const CollectiveWork& work);
/// The groups of flows of a step.
std::vector<FlowGroup> groups_of(const Topology& topology, const CollectivePhase& phase,
                                 std::int64_t ranks);
/// Empty for one rank. `work.hot` does not count. `most_nodes`: of one token, for moe_normal; 0:
/// any.
std::vector<CollectivePhase> phases_of(RoutedAlgorithm algorithm, const Topology& topology,
                                       const CollectiveWork& work, std::int64_t most_nodes = 0,
                                       FlowsOf whose = FlowsOf::first_if_alike);

}  // namespace tiersim
