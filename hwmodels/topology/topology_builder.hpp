#pragma once
// Builds the vertices and links of a topology.
#include "hwmodels/topology/topology.hpp"

namespace tiersim {

class TopologyBuilder {
 public:
  /// The configuration has no mistakes.
  TopologyBuilder(const TopologyConfig& config, Topology& built) : c_(config), t_(built) {}
  void build();

 private:
  /// Adds `count` vertices of a kind; returns the first.
  std::int32_t add(VertexKind kind, std::int64_t count);
  std::int32_t at(VertexKind kind, std::int64_t index) const;
  /// Two directed links.
  void join(std::int32_t a, std::int32_t b, Bandwidth capacity, Duration latency,
            std::int32_t length = 1);
  void build_domains();
  void build_trees();
  void build_pools();
  void build_network();
  void build_leaves();
  void join_leaves_to_spines(std::int64_t leaves);
  void build_dragonfly();
  void build_torus();

  const TopologyConfig& c_;
  Topology& t_;
};

}  // namespace tiersim
