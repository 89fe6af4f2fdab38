#include "hwmodels/topology/collective_flows.hpp"

#include <algorithm>
#include <cmath>

namespace tiersim {
namespace {

using Phases = std::vector<CollectivePhase>;

Bytes part_of(Bytes all, double share) {
  return std::max(Bytes::from_base(1), scale_up(all, share));
}

// Where the ranks stand.
class Places {
 public:
  Places(const Topology& topology, const CollectiveWork& work, FlowsOf whose)
      : t_(topology),
        work_(work),
        are_alike_(whose == FlowsOf::first_if_alike && topology.are_alike(work.ranks)),
        group_(std::min(work.ranks, std::max(t_.domain(), t_.gpus_per_node()))) {}

  std::int64_t ranks() const { return work_.ranks; }
  /// GPUs of a domain, or of a node where domains are smaller.
  std::int64_t group() const { return group_; }
  std::int64_t groups() const { return (work_.ranks + group_ - 1) / group_; }
  bool is_one_group() const { return work_.ranks <= group_; }
  std::int64_t size_of(std::int64_t group) const {
    return std::min(group_, work_.ranks - group * group_);
  }
  /// Rings or trees: one for each adapter of a group, at most one a GPU.
  std::int64_t channels() const {
    if (is_one_group()) return 1;
    const std::int64_t adapters =
        group_ * std::max<std::int64_t>(t_.adapters_per_node(), 1) / t_.gpus_per_node();
    return std::clamp<std::int64_t>(adapters, 1, group_);
  }
  /// The GPU of a group at a place, counted from the channel's adapter.
  std::int64_t gpu(std::int64_t group, std::int64_t place, std::int64_t channel = 0) const {
    const std::int64_t size = size_of(group);
    const std::int64_t first = channel * size / channels();
    return group * group_ + (first + place) % size;
  }
  void add(std::vector<RoutedFlow>& flows, std::int64_t from, std::int64_t to, Bytes bytes) const {
    if (from == to) return;
    const Transfer transfer{static_cast<std::int32_t>(from), static_cast<std::int32_t>(to), bytes};
    for (RoutedFlow& flow : routed(t_, {&transfer, 1})) flows.push_back(std::move(flow));
  }
  const Topology& topology() const { return t_; }
  bool are_alike() const { return are_alike_; }
  /// Ranks whose flows are made, where all have the same.
  std::int64_t sources() const { return are_alike() ? 1 : work_.ranks; }

 private:
  const Topology& t_;
  const CollectiveWork& work_;
  bool are_alike_;
  std::int64_t group_;
};

std::int64_t passes_of(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce ? 2 : 1;
}

Phases ring(const Places& at, const CollectiveWork& work) {
  CollectivePhase phase;
  const std::int64_t n = at.ranks();
  const std::int64_t channels = at.channels();
  const Bytes piece = part_of(work.size, 1.0 / static_cast<double>(n * channels));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t group = 0; group < at.groups(); ++group) {
      const std::int64_t size = at.size_of(group);
      // From the GPU behind the channel's adapter round to that GPU, which sends to its own rail.
      for (std::int64_t place = 1; place < size; ++place)
        at.add(phase.flows, at.gpu(group, place, c), at.gpu(group, place + 1, c), piece);
      const std::int64_t next = (group + 1) % at.groups();
      if (at.is_one_group())
        at.add(phase.flows, at.gpu(0, 0, c), at.gpu(0, 1, c), piece);
      else
        at.add(phase.flows, at.gpu(group, 0, c), at.gpu(next, 1, c), piece);
    }
  phase.steps = passes_of(work.kind) * (n - 1);
  phase.far_hops = at.is_one_group() ? 0 : passes_of(work.kind) * (at.groups() - 1);
  phase.near_hops = phase.steps - phase.far_hops;
  return {phase};
}

// The parent of a node in a binary tree whose odd nodes are leaves and whose root is 0.
std::int64_t parent_of(std::int64_t node, std::int64_t nodes) {
  const std::int64_t bit = node & -node;
  const std::int64_t up = (node ^ bit) | bit << 1;
  return up < nodes ? up : node ^ bit;
}

// In the second tree the leaves of the first have children: it is mirrored, or turned by one.
std::int64_t in_tree(std::int64_t tree, std::int64_t node, std::int64_t nodes) {
  if (tree == 0) return node;
  return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes;
}

// The edges of both trees between groups, with `half` up and down each, for one channel.
void add_trees(const Places& at, std::int64_t channel, Bytes half, CollectivePhase& phase) {
  const std::int64_t groups = at.groups();
  for (std::int64_t t = 0; t < 2; ++t)
    for (std::int64_t node = 1; node < groups; ++node) {
      const std::int64_t child = at.gpu(in_tree(t, node, groups), 0, channel);
      const std::int64_t parent = at.gpu(in_tree(t, parent_of(node, groups), groups), 0, channel);
      at.add(phase.flows, child, parent, half);
      at.add(phase.flows, parent, child, half);
    }
}

// Up and down a tree of the groups.
std::int64_t tree_hops(std::int64_t groups) {
  std::int64_t depth = 0;
  while ((std::int64_t{1} << depth) < groups) ++depth;
  return 2 * depth;
}

Phases tree(const Places& at, const CollectiveWork& work) {
  CollectivePhase phase;
  const std::int64_t channels = at.channels();
  const Bytes half = part_of(work.size, 0.5 / static_cast<double>(channels));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t group = 0; group < at.groups(); ++group)
      for (std::int64_t place = 0; place + 1 < at.size_of(group); ++place) {
        const std::int64_t a = at.gpu(group, place, c);
        const std::int64_t b = at.gpu(group, place + 1, c);
        at.add(phase.flows, a, b, half * 2);
        at.add(phase.flows, b, a, half * 2);
      }
    add_trees(at, c, half, phase);
  }
  phase.far_hops = tree_hops(at.groups());
  phase.near_hops = 2 * (at.size_of(0) - 1);
  return {phase};
}

// Each rail's pieces go round the domains.
CollectivePhase rail_rings(const Places& at, const CollectiveWork& work) {
  CollectivePhase phase;
  const std::int64_t groups = at.groups();
  const Bytes piece = part_of(work.size, 1.0 / static_cast<double>(at.group() * groups));
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t place = 0; place < at.group(); ++place)
      at.add(phase.flows, at.gpu(group, place), at.gpu((group + 1) % groups, place), piece);
  phase.steps = passes_of(work.kind) * (groups - 1);
  phase.far_hops = phase.steps;
  return phase;
}

// The trees between domains carry what the switch of a domain has added up, at the same time.
Phases nvls(const Places& at, const CollectiveWork& work) {
  CollectivePhase phase;
  const Bytes through = work.size + part_of(work.size, 1.0 / static_cast<double>(at.size_of(0)));
  for (std::int64_t rank = 0; rank < at.ranks(); ++rank) {
    const std::int64_t neighbour = rank % at.group() == 0 ? rank + 1 : rank - 1;
    phase.flows.push_back({{at.topology().route(rank, neighbour).front()}, through});
    phase.flows.push_back({{at.topology().route(neighbour, rank).back()}, through});
  }
  const std::int64_t channels = at.channels();
  for (std::int64_t c = 0; c < channels && !at.is_one_group(); ++c)
    add_trees(at, c, part_of(work.size, 0.5 / static_cast<double>(channels)), phase);
  phase.near_hops = 2;
  phase.far_hops = at.is_one_group() ? 0 : tree_hops(at.groups());
  return {phase};
}

// A piece from each rank of a domain to every other of it.
CollectivePhase exchange_in_groups(const Places& at, Bytes piece) {
  CollectivePhase phase;
  phase.of_first = at.are_alike();
  for (std::int64_t rank = 0; rank < at.sources(); ++rank) {
    const std::int64_t group = rank / at.group();
    for (std::int64_t to = 0; to < at.size_of(group); ++to)
      at.add(phase.flows, rank, at.gpu(group, to), piece);
  }
  phase.near_hops = 1;
  phase.peers = at.size_of(0) - 1;
  return phase;
}

Phases hierarchical(const Places& at, const CollectiveWork& work) {
  const Bytes piece = part_of(work.size, 1.0 / static_cast<double>(at.group()));
  Phases phases{exchange_in_groups(at, piece), rail_rings(at, work)};
  if (work.kind == CollectiveKind::all_reduce) phases.push_back(phases.front());
  return phases;
}

Phases direct(const Places& at, const CollectiveWork& work) {
  CollectivePhase phase;
  phase.of_first = at.are_alike();
  const Bytes piece = part_of(work.size, 1.0 / static_cast<double>(at.ranks()));
  for (std::int64_t from = 0; from < at.sources(); ++from)
    for (std::int64_t to = 0; to < at.ranks(); ++to) at.add(phase.flows, from, to, piece);
  phase.near_hops = at.is_one_group() ? 1 : 0;
  phase.far_hops = at.is_one_group() ? 0 : 1;
  phase.peers = at.ranks() - 1;
  return {phase};
}

// Piece of each node that goes along the rail, then of each GPU inside a node.
Phases two_level(const Places& at, const CollectiveWork& work) {
  const auto groups = static_cast<double>(at.groups());
  Phases phases{exchange_in_groups(at, part_of(work.size, 1.0 / static_cast<double>(at.group())))};
  CollectivePhase along;
  along.of_first = at.are_alike();
  const Bytes piece = part_of(work.size, 1.0 / groups);
  for (std::int64_t rank = 0; rank < at.sources(); ++rank)
    for (std::int64_t to = 0; to < at.groups(); ++to)
      at.add(along.flows, rank, at.gpu(to, rank % at.group()), piece);
  along.far_hops = 1;
  along.peers = at.groups() - 1;
  phases.push_back(std::move(along));
  return phases;
}

// Mean number of `boxes` that `balls` of a token reach, each in any box alike.
double reached(double boxes, double balls) {
  return boxes * (1 - std::pow(1 - 1 / boxes, balls));
}

// Both parts of the way are under way at the same time. A token that stays on its node crosses no
// adapter.
Phases moe_normal(const Places& at, const CollectiveWork& work, std::int64_t most_nodes) {
  const auto n = static_cast<double>(at.ranks());
  const auto groups = static_cast<double>(at.groups());
  const auto copies = static_cast<double>(work.copies);
  const double limit = most_nodes > 0 ? std::min(static_cast<double>(most_nodes), groups) : groups;
  const double nodes = reached(limit, copies);
  const double gpus_reached = reached(limit * n / groups, copies);
  const Bytes to_group = part_of(work.size, nodes / groups / copies);
  const Bytes to_gpu = part_of(work.size, gpus_reached / n / copies);
  CollectivePhase phase;
  phase.of_first = at.are_alike();
  for (std::int64_t rank = 0; rank < at.sources(); ++rank) {
    const std::int64_t place = rank % at.group();
    for (std::int64_t b = 0; b < at.groups(); ++b) {
      if (b != rank / at.group()) at.add(phase.flows, rank, at.gpu(b, place), to_group);
      for (std::int64_t to = 0; to < at.group(); ++to)
        at.add(phase.flows, at.gpu(b, place), at.gpu(b, to), to_gpu);
    }
  }
  phase.far_hops = at.is_one_group() ? 0 : 1;
  phase.near_hops = 1;
  phase.peers = at.groups() - 1 + at.group() - 1;
  return {phase};
}

Phases send(const Places& at, const CollectiveWork& work) {
  CollectivePhase phase;
  const Topology& t = at.topology();
  // The first GPU of the next domain or node, or the next GPU where there is no other.
  const std::int64_t beyond = std::max(t.domain(), t.gpus_per_node());
  const std::int64_t next = beyond < t.gpus() ? beyond : 1;
  at.add(phase.flows, 0, next, work.size);
  const bool inside = next < t.domain();
  phase.near_hops = inside ? 1 : 0;
  phase.far_hops = inside ? 0 : 1;
  return {phase};
}

}  // namespace

bool serves(RoutedAlgorithm algorithm, const Topology& topology, const CollectiveWork& work) {
  using enum RoutedAlgorithm;
  const CollectiveKind kind = work.kind;
  const bool reduces = kind == CollectiveKind::all_reduce;
  const bool gathers =
      reduces || kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_gather;
  const std::int64_t group = std::max(topology.domain(), topology.gpus_per_node());
  const bool whole_groups = work.ranks > group && work.ranks % group == 0;
  switch (algorithm) {
    case ring:
      return gathers;
    case tree:
      return reduces;
    case nvls:
      return reduces && topology.has_switches() && group == topology.domain() &&
             (work.ranks <= group || whole_groups);
    case hierarchical:
      return gathers && whole_groups;
    case direct:
      return kind != CollectiveKind::all_reduce;
    case two_level:
      return kind == CollectiveKind::all_to_all && whole_groups;
    case moe_normal:
      return kind == CollectiveKind::all_to_all && (work.ranks <= group || whole_groups);
    case moe_low_latency:
      return kind == CollectiveKind::all_to_all;
  }
  return false;
}

std::vector<FlowGroup> groups_of(const Topology& topology, const CollectivePhase& phase,
                                 std::int64_t ranks) {
  return phase.of_first ? groups_of_alike(topology, phase.flows, ranks)
                        : groups_of(topology, phase.flows);
}

std::vector<CollectivePhase> phases_of(RoutedAlgorithm algorithm, const Topology& topology,
                                       const CollectiveWork& work, std::int64_t most_nodes,
                                       FlowsOf whose) {
  TS_EXPECTS(work.ranks <= topology.gpus(), work.ranks, topology.gpus());
  if (work.ranks <= 1 || work.size == Bytes{}) return {};
  const Places at(topology, work, whose);
  if (work.kind == CollectiveKind::send) return send(at, work);
  switch (algorithm) {
    case RoutedAlgorithm::ring:
      return ring(at, work);
    case RoutedAlgorithm::tree:
      return tree(at, work);
    case RoutedAlgorithm::nvls:
      return nvls(at, work);
    case RoutedAlgorithm::hierarchical:
      return hierarchical(at, work);
    case RoutedAlgorithm::two_level:
      return two_level(at, work);
    case RoutedAlgorithm::moe_normal:
      return moe_normal(at, work, most_nodes);
    case RoutedAlgorithm::direct:
    case RoutedAlgorithm::moe_low_latency:
      return direct(at, work);
  }
  return {};
}

}  // namespace tiersim
