#pragma once
// Topologies of round numbers: NVLink of 100 GB/s, PCIe of 40 GB/s, adapters of 10 GB/s.
#include "hwmodels/topology/topology.hpp"

namespace tiersim::testing {

using namespace literals;
using namespace std::chrono_literals;

inline TopologyConfig one_domain(std::int64_t gpus) {
  TopologyConfig c;
  c.name = "one domain";
  c.nodes = 1;
  c.gpus_per_node = gpus;
  c.nvlink.emplace();
  c.nvlink->gpus = gpus;
  c.nvlink->port.value = 100_GBps;
  c.nvlink->latency.value = 200ns;
  return c;
}

/// Nodes of `gpus` GPUs with an adapter each, on leaves of `nodes_per_leaf` nodes for each rail.
inline TopologyConfig rails(std::int64_t nodes, std::int64_t gpus, std::int64_t nodes_per_leaf,
                            std::int64_t spines = 2) {
  TopologyConfig c = one_domain(gpus);
  c.name = "rails";
  c.nodes = nodes;
  c.pcie.emplace();
  c.pcie->switches = gpus;
  c.pcie->cpus = 1;
  c.pcie->link.value = 40_GBps;
  c.pcie->latency.value = 100ns;
  c.adapters.emplace();
  c.adapters->per_node = gpus;
  c.adapters->port.value = 10_GBps;
  c.adapters->latency.value = 50ns;
  c.network.emplace();
  c.network->kind = "leaf_spine";
  c.network->hop.value = 20ns;
  c.network->nodes_per_leaf = nodes_per_leaf;
  c.network->spines = spines;
  return c;
}

inline TopologyConfig torus(std::vector<std::int64_t> dims) {
  TopologyConfig c;
  c.name = "torus";
  c.gpus_per_node = 1;
  c.nodes = 1;
  for (const std::int64_t dim : dims) c.nodes *= dim;
  c.network.emplace();
  c.network->kind = "torus";
  c.network->hop.value = 20ns;
  c.network->dims = std::move(dims);
  c.network->link.value = 10_GBps;
  return c;
}

/// Nodes of one GPU with an adapter.
inline TopologyConfig dragonfly(std::int64_t groups, std::int64_t routers, std::int64_t nodes,
                                Bandwidth local, Bandwidth global) {
  TopologyConfig c = rails(groups * routers * nodes, 1, 1);
  c.name = "dragonfly";
  c.nvlink.reset();
  c.network->kind = "dragonfly";
  c.network->routers_per_group = routers;
  c.network->nodes_per_router = nodes;
  c.network->local.value = local;
  c.network->global.value = global;
  return c;
}

}  // namespace tiersim::testing
