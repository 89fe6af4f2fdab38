#include "hwmodels/topology/topology_builder.hpp"

#include <algorithm>

namespace tiersim {
namespace {

Bandwidth usable(const Sourced<Bandwidth>& port, const Sourced<double>& efficiency) {
  return scale_down(port.value, efficiency.value);
}

Bandwidth divided(Bandwidth all, double by) {
  return scale_down(all, 1 / by);
}

// A share of 1 % of the least rate that a configuration may have is still above 0.
Bandwidth at_least_one(Bandwidth b) {
  return std::max(b, Bandwidth::from_base(1));
}

}  // namespace

void TopologyBuilder::build() {
  t_.nodes_ = c_.nodes;
  t_.gpus_ = c_.gpus();
  t_.first_of_kind_.assign(kVertexKindNames.size(), -1);
  add(VertexKind::gpu, c_.gpus());
  if (c_.nvlink) build_domains();
  if (c_.pcie) build_trees();
  if (c_.pools) build_pools();
  if (c_.network) build_network();
}

std::int32_t TopologyBuilder::add(VertexKind kind, std::int64_t count) {
  const auto first = static_cast<std::int32_t>(t_.vertices_.size());
  t_.first_of_kind_[static_cast<std::size_t>(kind)] = first;
  for (std::int64_t i = 0; i < count; ++i)
    t_.vertices_.push_back({kind, static_cast<std::int32_t>(i)});
  return first;
}

std::int32_t TopologyBuilder::at(VertexKind kind, std::int64_t index) const {
  return t_.first_of_kind_[static_cast<std::size_t>(kind)] + static_cast<std::int32_t>(index);
}

void TopologyBuilder::join(std::int32_t a, std::int32_t b, Bandwidth capacity, Duration latency,
                           std::int32_t length) {
  t_.links_.push_back({a, b, at_least_one(capacity), latency, length});
  t_.links_.push_back({b, a, at_least_one(capacity), latency, length});
}

// Half of the latency between two GPUs on either side of the switch.
void TopologyBuilder::build_domains() {
  const DomainConfig& d = *c_.nvlink;
  t_.domain_ = d.gpus;
  t_.mesh_ = d.shape == DomainShape::mesh;
  const Bandwidth port = usable(d.port, d.efficiency);
  if (t_.mesh_) {
    for (std::int64_t a = 0; a < c_.gpus(); ++a)
      for (std::int64_t b = a + 1; b < (a / d.gpus + 1) * d.gpus; ++b)
        join(at(VertexKind::gpu, a), at(VertexKind::gpu, b),
             divided(port, static_cast<double>(d.gpus - 1)), d.latency.value);
    return;
  }
  add(VertexKind::nvswitch, c_.gpus() / d.gpus);
  for (std::int64_t gpu = 0; gpu < c_.gpus(); ++gpu)
    join(at(VertexKind::gpu, gpu), at(VertexKind::nvswitch, gpu / d.gpus), port,
         d.latency.value / 2);
}

void TopologyBuilder::build_trees() {
  const PcieTreeConfig& p = *c_.pcie;
  const auto link = [&](std::int32_t a, std::int32_t b) {
    join(a, b, p.link.value, p.latency.value);
  };
  t_.switches_per_node_ = p.switches;
  add(VertexKind::pcie_switch, c_.nodes * p.switches);
  add(VertexKind::cpu, c_.nodes * p.cpus);
  for (std::int64_t gpu = 0; gpu < c_.gpus(); ++gpu)
    link(at(VertexKind::gpu, gpu),
         at(VertexKind::pcie_switch, gpu * p.switches / c_.gpus_per_node));
  for (std::int64_t i = 0; i < c_.nodes * p.switches; ++i)
    link(at(VertexKind::pcie_switch, i), at(VertexKind::cpu, i * p.cpus / p.switches));
  for (std::int64_t node = 0; node < c_.nodes && p.between_cpus; ++node)
    for (std::int64_t a = 0; a < p.cpus; ++a)
      for (std::int64_t b = a + 1; b < p.cpus; ++b)
        join(at(VertexKind::cpu, node * p.cpus + a), at(VertexKind::cpu, node * p.cpus + b),
             p.between_cpus->value, p.latency.value);
  if (!c_.adapters) return;
  const std::int64_t adapters = c_.adapters->per_node;
  t_.adapters_per_node_ = adapters;
  add(VertexKind::adapter, c_.nodes * adapters);
  for (std::int64_t i = 0; i < c_.nodes * adapters; ++i)
    link(at(VertexKind::adapter, i), at(VertexKind::pcie_switch, i * p.switches / adapters));
}

void TopologyBuilder::build_pools() {
  const PoolsConfig& p = *c_.pools;
  const std::int64_t switches = c_.nodes / p.nodes_per_switch;
  t_.pools_ = switches * p.per_switch;
  add(VertexKind::cxl_switch, switches);
  add(VertexKind::pool, t_.pools_);
  const std::int64_t cpus = c_.nodes * c_.pcie->cpus;
  for (std::int64_t cpu = 0; cpu < cpus; ++cpu)
    join(at(VertexKind::cpu, cpu), at(VertexKind::cxl_switch, cpu * switches / cpus), p.port.value,
         p.latency.value);
  for (std::int64_t pool = 0; pool < t_.pools_; ++pool)
    join(at(VertexKind::cxl_switch, pool / p.per_switch), at(VertexKind::pool, pool),
         p.device.value, p.latency.value);
}

void TopologyBuilder::build_network() {
  const ScaleOutConfig& n = *c_.network;
  t_.seed_ = static_cast<std::uint64_t>(n.seed);
  t_.paths_ = n.routing == PathChoice::adaptive ? 1 : n.paths;
  t_.through_rail_ = n.through_rail;
  t_.torus_ = n.kind == "torus";
  t_.one_path_ = !t_.torus_ && n.kind != "dragonfly";
  if (t_.torus_) return build_torus();
  if (n.kind == "dragonfly") return build_dragonfly();
  build_leaves();
}

// Leaves by pod of nodes, then by rail. One spine stands for all of a tier whose switches share
// every flow.
void TopologyBuilder::build_leaves() {
  const ScaleOutConfig& n = *c_.network;
  const std::int64_t adapters = c_.adapters->per_node;
  const bool rails = n.rails || n.kind == "rail_only";
  const std::int64_t planes = rails ? adapters : 1;
  const std::int64_t leaves = c_.nodes / n.nodes_per_leaf * planes;
  t_.nodes_per_leaf_ = n.nodes_per_leaf;
  t_.leaves_per_pod_ = n.kind == "fat_tree" ? n.leaves_per_pod : leaves;
  add(VertexKind::leaf, leaves);
  const Duration half = n.hop.value / 2;
  for (std::int64_t i = 0; i < c_.nodes * adapters; ++i) {
    const std::int64_t pod = i / adapters / n.nodes_per_leaf;
    const std::int64_t plane = rails ? i % adapters : 0;
    join(at(VertexKind::adapter, i), at(VertexKind::leaf, pod * planes + plane),
         usable(c_.adapters->port, c_.adapters->efficiency), c_.adapters->latency.value + half);
  }
  if (n.kind != "rail_only" && leaves > 1) join_leaves_to_spines(leaves);
}

void TopologyBuilder::join_leaves_to_spines(std::int64_t leaves) {
  const ScaleOutConfig& n = *c_.network;
  const bool merged = n.routing == PathChoice::adaptive;
  const bool pods = n.kind == "fat_tree";
  const std::int64_t leaves_per_pod = pods ? n.leaves_per_pod : leaves;
  const std::int64_t spines = merged ? 1 : n.spines;
  const std::int64_t pod_count = leaves / leaves_per_pod;
  t_.one_path_ = spines == 1 && (merged || !pods || pod_count == 1 || n.cores == 1);
  add(VertexKind::spine, pod_count * spines);
  const std::int64_t planes = n.rails ? c_.adapters->per_node : 1;
  const std::int64_t ports = n.nodes_per_leaf * c_.adapters->per_node / planes;
  const Bandwidth down = usable(c_.adapters->port, c_.adapters->efficiency) * ports;
  const Bandwidth up = divided(down, n.oversubscription.value);
  const Duration hop = n.hop.value;
  for (std::int64_t leaf = 0; leaf < leaves; ++leaf)
    for (std::int64_t s = 0; s < spines; ++s)
      join(at(VertexKind::leaf, leaf), at(VertexKind::spine, leaf / leaves_per_pod * spines + s),
           divided(up, static_cast<double>(spines)), hop);
  if (!pods || pod_count == 1) return;
  const std::int64_t cores = merged ? 1 : n.cores;
  add(VertexKind::core, cores);
  const Bandwidth of_pod = divided(up * leaves_per_pod, n.core_oversubscription.value);
  for (std::int64_t spine = 0; spine < pod_count * spines; ++spine)
    for (std::int64_t core = 0; core < cores; ++core)
      join(at(VertexKind::spine, spine), at(VertexKind::core, core),
           divided(of_pod, static_cast<double>(spines * cores)), hop);
}

// Group g's link to group h begins at its router h mod routers, and the other way likewise. A link
// between groups is so long that one with a hop on either side is shorter than two of them.
void TopologyBuilder::build_dragonfly() {
  const ScaleOutConfig& n = *c_.network;
  const std::int64_t adapters = c_.adapters->per_node;
  const std::int64_t routers = c_.nodes / n.nodes_per_router;
  const std::int64_t in_group = n.routers_per_group;
  const std::int64_t groups = routers / in_group;
  constexpr std::int32_t kBetweenGroups = 3;
  add(VertexKind::router, routers);
  const Duration half = n.hop.value / 2;
  for (std::int64_t i = 0; i < c_.nodes * adapters; ++i)
    join(at(VertexKind::adapter, i), at(VertexKind::router, i / adapters / n.nodes_per_router),
         usable(c_.adapters->port, c_.adapters->efficiency), c_.adapters->latency.value + half);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t a = 0; a < in_group; ++a)
      for (std::int64_t b = a + 1; b < in_group; ++b)
        join(at(VertexKind::router, g * in_group + a), at(VertexKind::router, g * in_group + b),
             n.local.value, n.hop.value);
    for (std::int64_t h = g + 1; h < groups; ++h)
      join(at(VertexKind::router, g * in_group + h % in_group),
           at(VertexKind::router, h * in_group + g % in_group), n.global.value, n.hop.value,
           kBetweenGroups);
  }
}

// A GPU's router passes on what is not for it. The GPU itself takes in and sends out as much as all
// of its router's links.
void TopologyBuilder::build_torus() {
  const ScaleOutConfig& n = *c_.network;
  const auto gpus = c_.gpus();
  add(VertexKind::router, gpus);
  std::int64_t neighbours = 0;
  for (const std::int64_t dim : n.dims) neighbours += dim == 1 ? 0 : dim == 2 ? 1 : 2;
  for (std::int64_t gpu = 0; gpu < gpus; ++gpu)
    join(at(VertexKind::gpu, gpu), at(VertexKind::router, gpu),
         n.link.value * std::max<std::int64_t>(neighbours, 1), Duration{});
  for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
    std::int64_t stride = 1;
    for (const std::int64_t dim : n.dims) {
      const std::int64_t place = gpu / stride % dim;
      const std::int64_t next = gpu + ((place + 1) % dim - place) * stride;
      if (dim > 2 || (dim == 2 && place == 0))
        join(at(VertexKind::router, gpu), at(VertexKind::router, next), n.link.value, n.hop.value);
      stride *= dim;
    }
  }
}

}  // namespace tiersim
