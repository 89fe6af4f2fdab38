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

/// Adapters of GPUs in several nodes, and what NCCL takes between them.
struct CollectiveNetwork {
  FabricShape adapters;  ///< one port for each rank
  NcclConstants constants;
};

/// A node, and the library whose constants are taken: nccl for ring, tree, nvls and hierarchical,
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
  std::vector<FabricPortCounters> ports;  ///< of the nodes, by rank
  PacketAlgorithm algorithm = PacketAlgorithm::ring;
  CollectiveProtocol protocol = CollectiveProtocol::simple;
  std::int64_t packets = 0;  ///< that left ports, in all nodes
  std::uint64_t events = 0;
};

/// Algorithm and protocol by the name that the flow level gives them: "ring_ll", "nvls",
/// "one_shot". None where it is none of them.
struct NamedAlgorithm {
  PacketAlgorithm algorithm = PacketAlgorithm::ring;
  CollectiveProtocol protocol = CollectiveProtocol::simple;
};
std::optional<NamedAlgorithm> algorithm_named(std::string_view name, CollectiveKind kind);

/// What the flow level would take on this node: the algorithm of its cheapest way.
NamedAlgorithm chosen_algorithm(const Collective& flow, const CollectiveProbeConfig& config,
                                const CollectiveQuestion& question);

/// Whether `config` has the constants for this algorithm and protocol.
bool has_constants(const CollectiveProbeConfig& config, const CollectiveQuestion& question);

/// has_constants(), an algorithm that serves the kind and is not automatic. A rate of 0 of the
/// kernel's pace is none.
CollectiveProbeResult run_collective_probe(const CollectiveProbeConfig& config,
                                           const CollectiveQuestion& question);
/// The same with the algorithm that the flow level takes.
CollectiveProbeResult run_collective_probe(const CollectiveProbeConfig& config,
                                           const Collective& flow, CollectiveQuestion question);

/// Schedule and timing of one collective, for those who run several at once.
CollectiveSchedule schedule_of(const CollectiveProbeConfig& config,
                               const CollectiveQuestion& question);
CollectiveTiming timing_of(const CollectiveProbeConfig& config, const CollectiveQuestion& question,
                           const CollectiveSchedule& schedule);

}  // namespace tiersim
