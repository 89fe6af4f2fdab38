#pragma once
// Model card: collective_probe
//   Models    one collective, alone, on the GPUs of one NVLink domain, or of several nodes with a
//             network adapter each GPU.
//   Equation  bus bandwidth = f size / time, f = 2 (n - 1) / n for an all-reduce, (n - 1) / n for
//             its halves and all_to_all, 1 for send, as NCCL's tests count it.
//   Ignores   as collective_run.
//   Valid     2-64 ranks.
//   Source    NVIDIA/nccl-tests, PERFORMANCE.md.
//   Checked   tests/unit/packet/collective_packet_test.cpp
#include <optional>
#include <string>
#include <vector>

#include "hwmodels/packet/collective/collective_run.hpp"
#include "hwmodels/packet/nvlink/nvlink_packet.hpp"

namespace tiersim {

/// Network adapters of GPUs in several nodes, and NCCL's constants between nodes.
struct CollectiveNetwork {
  FabricShape adapters;  ///< one port for each rank
  NcclConstants constants;
};

/// A node, and the library whose constants are used: nccl for ring, tree, nvls and hierarchical,
/// direct for one_shot and two_shot.
struct CollectiveProbeConfig {
  NvlinkNode node;
  std::optional<NcclConfig> nccl = {};
  std::optional<DirectConfig> direct = {};
  CollectivePacketConfig packet = {};
  std::optional<CollectiveNetwork> network = {};
};

struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  PacketAlgorithm algorithm = PacketAlgorithm::ring;
  CollectiveProtocol protocol = CollectiveProtocol::simple;
  std::int64_t ranks = 8;
  Bytes bytes{};
  std::int64_t nodes = 1;
};

struct CollectiveProbeResult {
  Duration time{};
  double bus_bandwidth = 0;               ///< bytes a second
  std::vector<FabricPortCounters> ports;  ///< counters of the nodes' ports, by rank
  PacketAlgorithm algorithm = PacketAlgorithm::ring;
  CollectiveProtocol protocol = CollectiveProtocol::simple;
  std::int64_t packets = 0;  ///< packets that left ports, in all nodes
  std::uint64_t events = 0;
};

/// Algorithm and protocol of a flow-level name: "ring_ll", "nvls", "one_shot". Empty for a name
/// that is none of them.
struct NamedAlgorithm {
  PacketAlgorithm algorithm = PacketAlgorithm::ring;
  CollectiveProtocol protocol = CollectiveProtocol::simple;
};
std::optional<NamedAlgorithm> algorithm_named(std::string_view name, CollectiveKind kind);

/// The algorithm and protocol that the flow level takes on this node, as the cheapest.
NamedAlgorithm chosen_algorithm(const Collective& flow, const CollectiveProbeConfig& config,
                                const CollectiveQuestion& question);

/// True where `config` has the constants of this algorithm and protocol.
bool has_constants(const CollectiveProbeConfig& config, const CollectiveQuestion& question);

/// Runs one collective. Precondition: has_constants(), and an algorithm that serves the kind and is
/// not automatic. A rate of 0 leaves the kernel's pace unlimited.
CollectiveProbeResult run_collective_probe(const CollectiveProbeConfig& config,
                                           const CollectiveQuestion& question);
/// Like run_collective_probe(), with the algorithm that the flow level takes.
CollectiveProbeResult run_collective_probe(const CollectiveProbeConfig& config,
                                           const Collective& flow, CollectiveQuestion question);

/// Schedule and timing of one collective, for callers that run several at once.
CollectiveSchedule schedule_of(const CollectiveProbeConfig& config,
                               const CollectiveQuestion& question);
CollectiveTiming timing_of(const CollectiveProbeConfig& config, const CollectiveQuestion& question,
                           const CollectiveSchedule& schedule);

}  // namespace tiersim
