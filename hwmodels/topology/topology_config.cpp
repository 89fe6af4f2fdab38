#include "hwmodels/topology/topology_config.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kMostGpus = 16384;
constexpr std::int64_t kMostSwitches = 4096;
constexpr std::int64_t kMostCables = 1'000'000;

void describe_leaves(Fields& f, ScaleOutConfig& c) {
  f.optional("rails", c.rails,
             "Adapter r of every node is on a leaf of rail r; otherwise all of a node are on one.");
  f.required("nodes_per_leaf", c.nodes_per_leaf, "Nodes that one leaf joins.",
             in_range(1, kMostGpus));
}

void describe_paths(Fields& f, ScaleOutConfig& c) {
  f.optional("routing", c.routing, kPathChoiceNames, "Which of equally short paths a flow takes.");
  f.optional("seed", c.seed, "Of the hash that chooses a path.",
             in_range(0, std::int64_t{1} << 53U));
  f.optional("paths", c.paths, "Flows with paths of their own that a transfer is cut into.",
             in_range(1, 64));
}

void describe_kind(const std::string& kind, ScaleOutConfig& c, Fields& f) {
  if (kind == "rail_only") {
    f.required("nodes_per_leaf", c.nodes_per_leaf, "Nodes that the switch of a rail joins: all.",
               in_range(1, kMostGpus));
  } else if (kind == "leaf_spine" || kind == "fat_tree") {
    describe_leaves(f, c);
    describe_paths(f, c);
    f.optional("oversubscription", c.oversubscription,
               "Rate of a leaf's adapters over that of its uplinks.", in_range(1.0, 64.0));
    f.required("spines", c.spines, "Switches above the leaves: in all, or of one pod.",
               in_range(1, kMostSwitches));
    if (kind == "leaf_spine") return;
    f.required("leaves_per_pod", c.leaves_per_pod, "Leaves of one pod.",
               in_range(1, kMostSwitches));
    f.required("cores", c.cores, "Switches that join the pods.", in_range(1, kMostSwitches));
    f.optional("core_oversubscription", c.core_oversubscription,
               "Rate of a pod's leaves upwards over that of its uplinks.", in_range(1.0, 64.0));
  } else if (kind == "dragonfly") {
    describe_paths(f, c);
    f.required("nodes_per_router", c.nodes_per_router, "Nodes of one router.",
               in_range(1, kMostGpus));
    f.required("routers_per_group", c.routers_per_group, "Routers that are all joined.",
               in_range(1, kMostSwitches));
    f.required("local", c.local, "Between two routers of a group, in one direction.",
               bandwidth_limits());
    f.required("global", c.global, "Between two groups, in one direction.", bandwidth_limits());
  } else {
    describe_paths(f, c);
    f.required("dims", c.dims, "GPUs along each axis.", in_range(1, kMostGpus));
    f.required("link", c.link, "Between two neighbours, in one direction.", bandwidth_limits());
  }
}

bool divides(std::int64_t part, std::int64_t whole) {
  return part > 0 && whole % part == 0;
}

void check_torus(Fields& f, const TopologyConfig& c) {
  const std::vector<std::int64_t>& dims = c.network->dims;
  f.check(!dims.empty() && dims.size() <= 5, "network.dims", "has no axis, or more than five",
          "such as [4, 4, 4]");
  std::int64_t gpus = 1;
  for (const std::int64_t dim : dims) gpus = std::min(gpus, kMostGpus) * dim;
  f.check(gpus <= 4096, "network.dims", "have more than 4096 GPUs", "a smaller torus");
  f.check(gpus == c.gpus(), "network.dims", "has another number of GPUs than the nodes",
          "their product is nodes * gpus_per_node");
  f.check(c.network->routing == PathChoice::ecmp, "network.routing",
          "has a tier of switches only in leaf_spine and fat_tree", "ecmp");
}

void check_leaves(Fields& f, const TopologyConfig& c) {
  const ScaleOutConfig& n = *c.network;
  f.check(divides(n.nodes_per_leaf, c.nodes), "network.nodes_per_leaf",
          "does not divide the number of nodes", "leaves have equal numbers of nodes");
  const std::int64_t planes = n.rails ? c.adapters->per_node : 1;
  const std::int64_t leaves = c.nodes / std::max<std::int64_t>(n.nodes_per_leaf, 1) * planes;
  const std::int64_t pods =
      n.kind == "fat_tree" ? leaves / std::max<std::int64_t>(n.leaves_per_pod, 1) : 1;
  const std::int64_t cores = n.kind == "fat_tree" ? n.cores : 0;
  f.check(leaves * n.spines + pods * n.spines * cores <= kMostCables, "network.spines",
          "make more than a million cables between switches", "fewer switches");
  if (n.kind == "fat_tree")
    f.check(divides(n.leaves_per_pod, leaves), "network.leaves_per_pod",
            "does not divide the number of leaves", "pods have equal numbers of leaves");
}

void check_network(Fields& f, const TopologyConfig& c) {
  const ScaleOutConfig& n = *c.network;
  if (n.kind == "torus") return check_torus(f, c);
  f.check(c.adapters.has_value(), "network", "joins adapters, and none are stated",
          "adapters: {per_node: 8, port: 400 Gbit/s, latency: 1 us}");
  if (!c.adapters) return;
  if (n.kind == "rail_only") {
    f.check(n.nodes_per_leaf == c.nodes, "network.nodes_per_leaf", "is not the number of nodes",
            "without spines the switch of a rail joins all nodes");
    f.check(n.through_rail, "network.through_rail", "is false, and only NVLink joins the rails",
            "leaf_spine joins rails by spines");
    f.check(c.nvlink && c.nvlink->gpus >= c.gpus_per_node, "network",
            "has rails that only NVLink joins, and no domain has all GPUs of a node",
            "leaf_spine joins rails by spines");
  } else if (n.kind == "dragonfly") {
    f.check(divides(n.nodes_per_router * n.routers_per_group, c.nodes), "network.routers_per_group",
            "does not make whole groups of the nodes",
            "nodes_per_router * routers_per_group divides the number of nodes");
    f.check(n.routing == PathChoice::ecmp, "network.routing",
            "has a tier of switches only in leaf_spine and fat_tree", "ecmp");
  } else {
    check_leaves(f, c);
  }
}

// Every GPU reaches every other.
void check_reach(Fields& f, const TopologyConfig& c) {
  const bool torus = c.network && c.network->kind == "torus";
  const bool one_domain = c.nvlink && c.nvlink->gpus == c.gpus();
  f.check(c.nodes == 1 || one_domain || c.network, "nodes",
          "are joined neither by NVLink nor by a network", "network: {kind: leaf_spine, ...}");
  f.check(
      c.gpus_per_node == 1 || torus || c.pcie || (c.nvlink && c.nvlink->gpus >= c.gpus_per_node),
      "gpus_per_node", "are joined neither by one NVLink domain nor by PCIe",
      "pcie: {switches: 4, cpus: 2, ...}");
  if (c.pcie)
    f.check(c.pcie->cpus == 1 || c.pcie->between_cpus, "pcie.cpus", "are not joined to each other",
            "between_cpus: 64 GB/s");
  f.check(!c.adapters || c.pcie, "adapters", "reach GPUs over PCIe, which is not stated",
          "pcie: {switches: 4, cpus: 2, ...}");
  f.check(!c.pools || c.pcie, "pools", "are reached from CPUs, and no PCIe tree is stated",
          "pcie: {switches: 4, cpus: 2, ...}");
}

}  // namespace

void describe(Fields& f, DomainConfig& c) {
  f.doc("GPUs that are joined directly: NVLink, xGMI, UALink and the like.");
  f.optional("shape", c.shape, kDomainShapeNames,
             "switch: every GPU to a set of switches; mesh: to every other by a link of its own.");
  f.required("gpus", c.gpus, "GPUs of one domain: whole nodes, or a whole part of a node.",
             in_range(2, kMostGpus));
  f.required("port", c.port, "Of a GPU to all others together, in one direction.",
             bandwidth_limits());
  f.optional("efficiency", c.efficiency, "Payload over the port's rate.", share_limits());
  f.required("latency", c.latency, "From one GPU to another, without load.", latency_limits());
}

void describe(Fields& f, PcieTreeConfig& c) {
  f.doc("GPUs and adapters under PCIe switches, and these under CPUs.");
  f.required("switches", c.switches, "Switches of a node.", in_range(1, 64));
  f.required("cpus", c.cpus, "CPUs of a node.", in_range(1, 8));
  f.required("link", c.link, "Of a GPU, an adapter, or a switch to its CPU, in one direction.",
             bandwidth_limits());
  f.required("latency", c.latency, "Of one such link.", latency_limits());
  f.optional("between_cpus", c.between_cpus, "Between the CPUs of a node, in one direction.",
             bandwidth_limits());
}

void describe(Fields& f, AdaptersConfig& c) {
  f.doc("Network adapters.");
  f.required("per_node", c.per_node, "Of a node; GPUs share them in order.", in_range(1, 64));
  f.required("port", c.port, "Of one adapter, in one direction.", bandwidth_limits());
  f.optional("efficiency", c.efficiency, "Payload over the port's rate.", share_limits());
  f.required("latency", c.latency, "Of an adapter, each way.", latency_limits());
}

void describe(Fields& f, ScaleOutConfig& c) {
  f.doc("Switches between the nodes.");
  f.select("kind", c.kind,
           {{"rail_only", "one switch for each rail; NVLink joins the rails"},
            {"leaf_spine", "leaves, all joined by every spine"},
            {"fat_tree", "pods of leaves and spines, joined by cores"},
            {"dragonfly", "groups of routers, each pair of groups joined by one link"},
            {"torus", "every GPU with two neighbours along each axis"}},
           [&](const std::string& kind, Fields& fields) { describe_kind(kind, c, fields); });
  f.required("hop", c.hop, "Latency of a switch with the cable to it.", latency_limits());
  f.optional("through_rail", c.through_rail,
             "Data first crosses NVLink to the GPU on the receiver's rail (NCCL's PXN).");
}

void describe(Fields& f, PoolsConfig& c) {
  f.doc("Memory that the CPUs of several nodes reach over a CXL switch.");
  f.required("nodes_per_switch", c.nodes_per_switch, "Nodes that share the pools of a switch.",
             in_range(1, kMostGpus));
  f.required("per_switch", c.per_switch, "Pools behind each switch.", in_range(1, 64));
  f.required("port", c.port, "Of a CPU to the switch, in one direction.", bandwidth_limits());
  f.required("device", c.device, "Of a pool to the switch, in one direction.", bandwidth_limits());
  f.required("latency", c.latency, "Of either.", latency_limits());
}

void describe(Fields& f, TopologyConfig& c) {
  f.doc("How the GPUs of a cluster are joined.");
  f.optional("name", c.name, "Short name, used in reports.");
  f.required("nodes", c.nodes, "Nodes: a CPU board with its GPUs and adapters.",
             in_range(1, kMostGpus));
  f.required("gpus_per_node", c.gpus_per_node, "GPUs of each.", in_range(1, 72));
  f.optional("nvlink", c.nvlink, "Domains of GPUs that switches join directly.");
  f.optional("pcie", c.pcie, "The tree in each node.");
  f.optional("adapters", c.adapters, "To the network between nodes.");
  f.optional("network", c.network, "Between the nodes.");
  f.optional("pools", c.pools, "Memory behind CXL switches.");
  f.check(c.gpus() <= kMostGpus, "nodes", "have more than 16384 GPUs together", "fewer nodes");
  if (c.nvlink)
    f.check(divides(c.nvlink->gpus, c.gpus()) && (divides(c.gpus_per_node, c.nvlink->gpus) ||
                                                  divides(c.nvlink->gpus, c.gpus_per_node)),
            "nvlink.gpus", "is neither whole nodes nor a whole part of one, or leaves GPUs over",
            "such as gpus_per_node");
  if (c.adapters)
    f.check(divides(c.adapters->per_node, c.gpus_per_node), "adapters.per_node",
            "does not divide the GPUs of a node", "as many as GPUs, or a whole part of them");
  if (c.pcie) {
    f.check(divides(c.pcie->switches, c.gpus_per_node), "pcie.switches",
            "do not divide the GPUs of a node", "each has equally many");
    f.check(divides(c.pcie->cpus, c.pcie->switches), "pcie.cpus",
            "do not divide the switches of a node", "each has equally many");
  }
  if (c.pools)
    f.check(divides(c.pools->nodes_per_switch, c.nodes), "pools.nodes_per_switch",
            "does not divide the number of nodes", "switches have equal numbers of nodes");
  check_reach(f, c);
  if (c.network) check_network(f, c);
}

}  // namespace tiersim
