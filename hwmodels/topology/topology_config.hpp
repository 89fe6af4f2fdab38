#pragma once
// Model card: topology (how the GPUs of a cluster are joined; fidelity: flow)
//   Models    nodes of GPUs; NVLink domains of one node, of a part of it, or of several; a tree of
//             PCIe switches and CPUs in each node; adapters; switches between nodes as rails, leaf
//             and spine, fat tree, dragonfly or torus; pools of memory behind CXL switches. Every
//             cable is two directed links, each with a capacity and a latency.
//   Equation  a leaf's uplinks together have (its adapters * port) / oversubscription; cables
//             between the same two parts count as one with their rates added up.
//   Ignores   the planes of a domain's switches, over which a GPU spreads its traffic evenly: a
//             domain has one switch; buffers, credits and the reaction time of congestion control.
//   Valid     up to 16384 GPUs; one job at a time uses the links.
//   Source    configs/topologies/*.yaml
//   Checked   tests/unit/hwmodels/topology_test.cpp, tests/theory/topology_theory_test.cpp
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// How the GPUs of a domain are joined.
enum class DomainShape : std::uint8_t {
  switched,  ///< every GPU to a set of switches (NVLink)
  mesh,      ///< every GPU to every other by a link of its own (xGMI)
};
inline constexpr std::array<std::string_view, 2> kDomainShapeNames{"switch", "mesh"};

/// GPUs that are joined directly: NVLink, xGMI, UALink and the like.
struct DomainConfig {
  DomainShape shape = DomainShape::switched;
  std::int64_t gpus = 8;    ///< a whole number of nodes, or a whole part of one
  Sourced<Bandwidth> port;  ///< of a GPU to all others together, in one direction
  Sourced<double> efficiency{1, NumberClass::assumed, "1: not stated"};  ///< payload over port
  Sourced<Duration> latency;  ///< from one GPU to another
};
void describe(Fields& f, DomainConfig& c);

/// The tree in a node: GPUs and adapters under switches, switches under CPUs.
struct PcieTreeConfig {
  std::int64_t switches = 1;  ///< of a node
  std::int64_t cpus = 1;      ///< of a node
  Sourced<Bandwidth> link;    ///< of a GPU, an adapter, or a switch to its CPU
  Sourced<Duration> latency;  ///< of one link
  std::optional<Sourced<Bandwidth>> between_cpus;
};
void describe(Fields& f, PcieTreeConfig& c);

struct AdaptersConfig {
  std::int64_t per_node = 1;  ///< at most one a GPU; GPUs share them in order
  Sourced<Bandwidth> port;    ///< in one direction
  Sourced<double> efficiency{1, NumberClass::assumed, "1: not stated"};
  Sourced<Duration> latency;  ///< of an adapter
};
void describe(Fields& f, AdaptersConfig& c);

/// The choice among equally short paths between two adapters.
enum class PathChoice : std::uint8_t {
  ecmp,      ///< by a hash of the pair: some links get more flows than others
  adaptive,  ///< packets over all of them: the switches of a tier act as one
};
inline constexpr std::array<std::string_view, 2> kPathChoiceNames{"ecmp", "adaptive"};

/// Switches between the adapters.
struct ScaleOutConfig {
  std::string kind;
  Sourced<Duration> hop;  ///< of a switch with the cable to it
  PathChoice routing = PathChoice::ecmp;
  std::int64_t seed = 1;     ///< of the hash
  std::int64_t paths = 1;    ///< flows with paths of their own that a transfer is cut into
  bool through_rail = true;  ///< first over NVLink to the GPU on the receiver's rail
  bool rails = true;         ///< adapter r of every node is on a switch of rail r
  std::int64_t nodes_per_leaf = 1;
  std::int64_t spines = 1;          ///< leaf_spine: in all; fat_tree: of a pod
  std::int64_t leaves_per_pod = 1;  ///< fat_tree
  std::int64_t cores = 1;           ///< fat_tree
  Sourced<double> oversubscription{1, NumberClass::assumed, "1: none"};       ///< of leaves
  Sourced<double> core_oversubscription{1, NumberClass::assumed, "1: none"};  ///< of pods
  std::int64_t nodes_per_router = 1;                                          ///< dragonfly
  std::int64_t routers_per_group = 1;                                         ///< dragonfly
  Sourced<Bandwidth> local;        ///< dragonfly: between two routers of a group
  Sourced<Bandwidth> global;       ///< dragonfly: between two groups
  std::vector<std::int64_t> dims;  ///< torus: GPUs along each axis
  Sourced<Bandwidth> link;         ///< torus: between neighbours
};
void describe(Fields& f, ScaleOutConfig& c);

/// Memory that the CPUs of several nodes reach over a CXL switch.
struct PoolsConfig {
  std::int64_t nodes_per_switch = 1;
  std::int64_t per_switch = 1;
  Sourced<Bandwidth> port;    ///< of a CPU to the switch
  Sourced<Bandwidth> device;  ///< of a pool to the switch
  Sourced<Duration> latency;  ///< of either
};
void describe(Fields& f, PoolsConfig& c);

struct TopologyConfig {
  std::string name;
  std::int64_t nodes = 1;
  std::int64_t gpus_per_node = 8;
  std::optional<DomainConfig> nvlink;
  std::optional<PcieTreeConfig> pcie;
  std::optional<AdaptersConfig> adapters;
  std::optional<ScaleOutConfig> network;
  std::optional<PoolsConfig> pools;

  std::int64_t gpus() const { return nodes * gpus_per_node; }
};
/// Every mistake in the numbers: what does not divide, what is missing, what cannot be reached.
void describe(Fields& f, TopologyConfig& c);

}  // namespace tiersim
