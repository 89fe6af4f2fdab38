#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/link/hop.hpp"
#include "hwmodels/packet/collective/collective_probe.hpp"
#include "hwmodels/packet/nvlink/nvlink_probe.hpp"
#include "sim/base/expected.hpp"
#include "sim/validate/packet_answers.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr std::int64_t kPacketsMost = 4'000'000;  // per point: half a second of run time

const NvlinkConfig* port_of(const HardwareCurve& curve) {
  return curve.links.empty() ? nullptr : config_of<NvlinkConfig>(*curve.links.front().spec);
}

Unexpected<std::string> why_not(std::string why) {
  return Unexpected(std::move(why));
}

// The port and at most one switch; else the reason why they cannot be simulated.
Expected<NvlinkNode> node_of(const HardwareCurve& curve) {
  const NvlinkConfig* port = port_of(curve);
  if (port == nullptr) return why_not("no packet-level model has this port");
  const std::vector<PacketObstacle> obstacles = packet_obstacles(*port);
  if (!obstacles.empty())
    return why_not(
        fmt::format("its port's {} {}", obstacles.front().path, obstacles.front().message));
  NvlinkNode node{.port = *port,
                  .packet = *port->packet_level,
                  .switch_latency = {},
                  .packet_switch = {},
                  .memory = {}};
  if (curve.links.size() == 1) return node;
  const auto* hop = config_of<HopConfig>(*curve.links[1].spec);
  if (curve.links.size() > 2 || hop == nullptr)
    return why_not("no packet-level model joins these links");
  if (!hop->packet_level) return why_not("its switch has no packet_level mapping");
  if (hop->capacity) return why_not("a switch has no capacity of its own at packet level");
  node.switch_latency = hop->latency;
  node.switch_latency.value = hop->latency.value * hop->crossings.value;
  node.packet_switch = *hop->packet_level;
  return node;
}

// Least packets of a collective: a rank sends 2 (n - 1) / n of the size.
std::int64_t packets_of(const NvlinkNode& node, Bytes size, std::int64_t ranks) {
  return 2 * (ranks - 1) * (size.in_base() / node.port.packet.value.in_base());
}

// The reason why the question cannot be run; empty if it can.
std::string obstacle_to(const CollectiveProbeConfig& config, const CollectiveQuestion& question) {
  const std::int64_t packets = packets_of(config.node, question.bytes, question.ranks);
  if (packets > kPacketsMost)
    return fmt::format("{:.0f} million packets, which take too long here",
                       static_cast<double>(packets) / 1e6);
  if (question.algorithm == PacketAlgorithm::nvls &&
      config.node.packet_switch.queues == SwitchQueues::fifo)
    return "NVLS: a switch with one queue for each input does not add up";
  return {};
}

}  // namespace

bool is_nvlink(const HardwareCurve& curve) {
  return port_of(curve) != nullptr;
}

LevelResult read_nvlink(const HardwareCurve& curve, const ProbeWorkload& asked) {
  const auto node = node_of(curve);
  if (!node) return no_packets(node.error());
  if (asked.rate) return no_packets("no offered load at packet level of NVLink");
  const bool latency = curve.facts.quantity == ProbeQuantity::latency;
  const double share = asked.read_share.value_or(1);
  NvlinkWorkload workload;
  workload.gpus = 2;
  workload.bytes = asked.run.value_or(4_KiB);
  workload.pattern = share == 0.5 ? NvlinkPattern::bidirectional : NvlinkPattern::point_to_point;
  workload.read_share = share == 0.5 ? 0 : share;
  workload.accesses = std::max<std::int64_t>(64, (64_MiB).in_base() / workload.bytes.in_base());
  workload.outstanding = asked.outstanding.value_or(latency ? 1 : workload.accesses);
  const NvlinkProbeResult result = run_nvlink_probe(*node, workload);
  if (latency) return {static_cast<double>(result.latency.mean.count()) * 1e-3};
  const double giga = result.bandwidth * 1e-9;
  const bool accesses = curve.facts.quantity == ProbeQuantity::accesses;
  return {accesses ? giga / static_cast<double>(workload.bytes.in_base()) : giga};
}

LevelResult read_collective(const HardwareCurve& curve, const ProbeWorkload& asked) {
  const auto node = node_of(curve);
  if (!node) return no_packets(node.error());
  const DeviceSpec<Collective>& spec = *curve.collective->spec;
  CollectiveProbeConfig config{.node = *node};
  if (const auto* nccl = config_of<NcclConfig>(spec)) {
    if (!nccl->packet_level) return no_packets("its collective has no packet_level mapping");
    config.nccl = *nccl;
    config.packet = *nccl->packet_level;
  } else if (const auto* direct = config_of<DirectConfig>(spec)) {
    config.direct = *direct;
  } else {
    return no_packets("no packet-level model has this collective");
  }
  if (asked.operation.value_or(CollectiveKind::all_reduce) != CollectiveKind::all_reduce)
    return no_packets("packets are of all-reduces alone");
  CollectiveQuestion question{.ranks = asked.ranks.value_or(8), .bytes = *asked.size};
  if (question.ranks > 64) return no_packets("more than 64 ranks of one NVLink domain");
  const NamedAlgorithm chosen = chosen_algorithm(*spec.build(), config, question);
  question.algorithm = chosen.algorithm;
  question.protocol = chosen.protocol;
  if (std::string why = obstacle_to(config, question); !why.empty()) return no_packets(why);
  const CollectiveProbeResult result = run_collective_probe(config, question);
  const Duration time = std::max(result.time, asked.launch.value_or(Duration{}));
  if (curve.facts.quantity == ProbeQuantity::time) return {to_seconds(time) * 1e6};
  return {result.bus_bandwidth * 1e-9 * to_seconds(result.time) / to_seconds(time)};
}

}  // namespace tiersim
