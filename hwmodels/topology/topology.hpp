#pragma once
// The vertices and links of a topology, and the path of a transfer between two of its GPUs.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hwmodels/topology/topology_config.hpp"
#include "sim/base/small_vector.hpp"

namespace tiersim {

enum class VertexKind : std::uint8_t {
  gpu,
  nvswitch,
  pcie_switch,
  cpu,
  adapter,
  leaf,
  spine,
  core,
  router,
  cxl_switch,
  pool,
};
inline constexpr std::array<std::string_view, 11> kVertexKindNames{
    "gpu",   "nvswitch", "pcie_switch", "cpu",        "adapter", "leaf",
    "spine", "core",     "router",      "cxl_switch", "pool"};
constexpr std::string_view name(VertexKind k) {
  return kVertexKindNames[static_cast<std::size_t>(k)];
}

struct Vertex {
  VertexKind kind = VertexKind::gpu;
  std::int32_t index = 0;  ///< among those of its kind
};

/// One direction of a cable, or of several between the same two ends.
struct TopologyLink {
  std::int32_t from = 0;  ///< index of a vertex
  std::int32_t to = 0;
  Bandwidth capacity;
  Duration latency;
  std::int32_t length = 1;  ///< for the choice of the shortest path
};

/// Links from one GPU to another, in order.
using LinkRoute = SmallVector<std::int32_t, 12>;

class Topology {
 public:
  explicit Topology(const TopologyConfig& config);

  std::int64_t gpus() const { return gpus_; }
  std::int64_t nodes() const { return nodes_; }
  std::int64_t gpus_per_node() const { return gpus_ / nodes_; }
  std::int64_t adapters_per_node() const { return adapters_per_node_; }
  /// GPUs of one NVLink domain; 1 where there is none.
  std::int64_t domain() const { return domain_; }
  /// True where switches join the GPUs of a domain.
  bool has_switches() const { return domain_ > 1 && !mesh_; }
  /// True where the GPUs 0 to ranks - 1 cannot be told apart: whole nodes, pods and domains, and
  /// one path between any two.
  bool are_alike(std::int64_t ranks) const;
  /// Links of the same ends and direction as this one between these GPUs, which are alike.
  std::int64_t links_like(std::int32_t link, std::int64_t ranks) const;
  /// A number that differs between topologies that differ.
  const std::array<std::uint64_t, 2>& fingerprint() const { return fingerprint_; }
  /// Flows that a transfer between two domains is cut into.
  std::int64_t paths() const { return paths_; }
  /// The adapter of a GPU among those of its node.
  std::int64_t rail(std::int64_t gpu) const {
    return gpu % gpus_per_node() * adapters_per_node_ / gpus_per_node();
  }

  const std::vector<Vertex>& vertices() const { return vertices_; }
  const std::vector<TopologyLink>& links() const { return links_; }
  /// "gpu 5", "leaf 0".
  std::string name(std::int32_t vertex) const;
  /// "adapter 3 to leaf 0".
  std::string link_name(std::int32_t link) const;

  /// The path from GPU `from` to GPU `to`, empty for one GPU: over NVLink in a domain, over PCIe in
  /// a node, else over the GPU's adapter. `path` < paths() chooses among equally short ones.
  LinkRoute route(std::int64_t from, std::int64_t to, std::int64_t path = 0) const;
  /// The path from a GPU to a pool, or an empty one where none leads there.
  LinkRoute route_to_pool(std::int64_t from, std::int64_t pool) const;
  Duration latency(const LinkRoute& route) const;
  std::int64_t pools() const { return pools_; }

 private:
  friend class TopologyBuilder;
  struct Out {
    std::int32_t to;
    std::int32_t link;
    std::int32_t length;
  };
  static constexpr std::uint16_t kFar = 0xffff;

  std::array<std::uint64_t, 2> mixed_all() const;
  void index_links();
  void number_switches();
  void measure_distances();
  std::span<const Out> out_of(std::int32_t vertex) const;
  std::int32_t link_between(std::int32_t from, std::int32_t to) const;
  void append(std::int32_t from, std::int32_t to, LinkRoute& route) const;
  void append_in_node(std::int32_t from, std::int32_t to, LinkRoute& route) const;
  void append_network(std::int32_t from, std::int32_t to, std::uint64_t flow,
                      LinkRoute& route) const;
  std::uint16_t length_left(std::int32_t vertex, std::size_t column) const;
  std::int32_t first_switch(std::int32_t vertex) const;
  std::int32_t adapter_of(std::int64_t gpu) const;
  std::int64_t leaves_of(std::int64_t ranks) const;
  std::int64_t count_of(VertexKind kind) const;

  std::int64_t gpus_ = 0;
  std::int64_t nodes_ = 1;
  std::int64_t adapters_per_node_ = 0;
  std::int64_t domain_ = 1;
  std::int64_t pools_ = 0;
  std::int64_t paths_ = 1;
  std::int64_t nodes_per_leaf_ = 0;  // of switches in tiers; 0: others, or none
  std::int64_t leaves_per_pod_ = 0;
  std::int64_t switches_per_node_ = 1;  // PCIe
  bool one_path_ = true;
  std::array<std::uint64_t, 2> fingerprint_{};
  std::uint64_t seed_ = 1;
  bool through_rail_ = false;
  bool torus_ = false;
  bool mesh_ = false;
  std::vector<Vertex> vertices_;  // GPUs first
  std::vector<TopologyLink> links_;
  std::vector<std::int32_t> first_of_kind_;  // vertex, by VertexKind; -1
  std::vector<std::int32_t> first_out_;      // into outs_, by vertex
  std::vector<Out> outs_;
  // Lengths of the shortest paths from every network switch to each one that has adapters or GPUs.
  std::vector<std::int32_t> row_;     // of distance_, by vertex; -1
  std::vector<std::int32_t> column_;  // likewise
  std::size_t columns_ = 0;
  std::vector<std::uint16_t> distance_;  // [row * columns_ + column]
};

}  // namespace tiersim
