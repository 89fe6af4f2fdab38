// GPUs of one NVLink domain, or of as many nodes on one switch: accesses between two of them, many
// to one, and all-reduces.
#include <fmt/format.h>

#include "hwmodels/packet/collective/collective_probe.hpp"
#include "hwmodels/packet/network/network_packet.hpp"
#include "hwmodels/packet/nvlink/nvlink_probe.hpp"
#include "sim/core/engine.hpp"
#include "sim/validate/fidelity_map_devices.hpp"

namespace tiersim::fidelity_map {
namespace {

using namespace literals;
using enum LevelMeasure::Kind;

constexpr std::int64_t kGpus = 8;
constexpr std::int64_t kFewReads = 64;
constexpr Bytes kGatheredPayload = 16_MiB;
constexpr Bytes kInFlight = 2_MiB;  // several times the bytes on the wire in a round trip
constexpr std::array kAllReduces{
    NamedSize{8_KiB, "8k", "8 KiB"},
    NamedSize{64_KiB, "64k", "64 KiB"},
    NamedSize{512_KiB, "512k", "512 KiB"},
    NamedSize{8_MiB, "8m", "8 MiB"},
};

struct Node {
  NvlinkNode packets;
  std::unique_ptr<Link> port;
  std::unique_ptr<Link> nvswitch = {};  // null: in the latency of the port
  std::unique_ptr<Collective> direct;
  std::unique_ptr<Collective> nccl;

  Node(const NvlinkConfig& p, const HopConfig& s)
      : packets{.port = p,
                .packet = *p.packet_level,
                .switch_latency = s.latency,
                .packet_switch = *s.packet_level},
        port(make_device(p)),
        nvswitch(make_device(s)) {
    packets.switch_latency.value = s.latency.value * s.crossings.value;
  }
  explicit Node(const NetworkConfig& adapter)
      : packets(node_of(adapter)), port(make_device(adapter)) {}

  /// From one GPU's port through the switch to another GPU's port.
  LevelAccess access(Direction direction, Bytes payload, Bytes run, std::size_t from,
                     std::size_t to) const {
    LevelAccess out = ask_of(*port, direction, payload, run, from);
    out.latency = latency_of(out);
    if (nvswitch) out.latency += nvswitch->cost(direction, payload, run).latency;
    if (direction == Direction::write) add_part(out, *port, port->incoming(payload, run), to);
    return out;
  }
  PortPath path() const {
    return {port->channels().front().capacity, shape_of(packets, kGpus).one_way()};
  }
};

std::function<LevelAnswer()> packets(const Node& node, const NvlinkWorkload& workload) {
  return [packet_node = node.packets, workload] {
    const NvlinkProbeResult r = run_nvlink_probe(packet_node, workload);
    return LevelAnswer{r.bandwidth / 1e9, r.events, r.payload};
  };
}

NvlinkWorkload nvlink_gather(Bytes run, double read_share) {
  return {.gpus = 2,
          .bytes = run,
          .accesses = kGatheredPayload.in_base() / run.in_base(),
          .outstanding = kInFlight.in_base() / run.in_base(),
          .read_share = read_share,
          .random_addresses = true};
}

// Two writes of one flow that begin at the same time.
class InOrderCopies final : public FabricListener {
 public:
  explicit InOrderCopies(const NvlinkNode& node) : fabric_(engine_, shape_of(node, 2)) {}

  LevelAnswer run(Bytes ahead, Bytes behind) {
    const std::uint64_t flow = fabric_.new_flow();
    fabric_.post({.dst = 1, .bytes = ahead, .flow = flow});
    fabric_.post(
        {.dst = 1, .bytes = behind, .address = ahead.in_base(), .flow = flow, .listener = this});
    engine_.run();
    return {to_seconds(ended_) * 1e9, engine_.events(), ahead + behind};
  }
  void on_done(Engine& engine, std::uint64_t) override { ended_ = engine.now().time_since_epoch(); }

 private:
  Engine engine_;
  PacketFabric fabric_;
  Duration ended_{};
};

void add_accesses(Workloads& list, const Node& node) {
  const LevelMeasure rate{};
  for (const Direction direction : {Direction::read, Direction::write}) {
    const bool read = direction == Direction::read;
    list.add({read ? "stream" : "write-stream",
              fmt::format("64 MiB {} GPU to GPU", read ? "read" : "written"), true},
             rate, {node.access(direction, kBulk, kBulk, 0, 1)},
             packets(node, {.gpus = 2, .bytes = kBulk, .read_share = read ? 1.0 : 0.0}));
  }
  for (const NamedSize& run : kGatherRuns)
    list.add({std::string("read-") + run.id, std::string("random reads of ") + run.text}, rate,
             {node.access(Direction::read, kGatheredPayload, run.size, 0, 1)},
             packets(node, nvlink_gather(run.size, 1)));
  std::vector<LevelAccess> mixed = mixed_asks(*node.port, kGatheredPayload, 4_KiB);
  for (LevelAccess& access : mixed)
    access.latency = node.access(Direction::read, 4_KiB, 4_KiB, 0, 1).latency;
  list.add({"mixed", "2:1 reads and writes of 4 KiB"}, rate, mixed,
           packets(node, nvlink_gather(4_KiB, 2.0 / 3)));
  NvlinkWorkload few = nvlink_gather(256_B, 1);
  few.accesses = 20'000;
  few.outstanding = kFewReads;
  LevelAccess limited = node.access(Direction::read, few.bytes * few.accesses, few.bytes, 0, 1);
  limit(limited, few.bytes, {kFewReads, few.bytes}, limited.latency - latency_of(limited), {});
  list.add({"outstanding", fmt::format("256 B reads, {} in flight", kFewReads)}, rate, {limited},
           packets(node, few));
}

void add_shared(Workloads& list, const Node& node) {
  std::vector<LevelAccess> accesses;
  for (std::size_t from = 1; from < kGpus; ++from)
    accesses.push_back(node.access(Direction::write, 8_MiB, 8_MiB, from, 0));
  list.add({"incast", "7 GPUs write 8 MiB each to 1", true}, {.kind = rate}, accesses,
           packets(node, {.pattern = NvlinkPattern::incast, .gpus = kGpus, .bytes = 8_MiB}));
  accesses.clear();
  for (std::size_t from = 0; from < kGpus; ++from)
    for (std::size_t to = 0; to < kGpus; ++to)
      if (from != to) accesses.push_back(node.access(Direction::write, 1_MiB, 1_MiB, from, to));
  list.add({"all-to-all", "8 GPUs write 1 MiB to each"}, {.kind = rate}, accesses,
           packets(node, {.pattern = NvlinkPattern::all_to_all, .gpus = kGpus, .bytes = 1_MiB}));
  list.add({"behind", "write of 64 B behind 1 MiB"}, {.kind = time_of_one, .index = 1},
           {node.access(Direction::write, kAhead, kAhead, 0, 1),
            node.access(Direction::write, 64_B, 64_B, 0, 1)},
           [of_packets = node.packets] { return InOrderCopies(of_packets).run(kAhead, 64_B); });
}

void add_single_transfers(Workloads& list, const Node& node) {
  for (const std::int64_t count : kTransferPackets) {
    const Bytes size = node.packets.port.packet.value * count;
    list.add(
        {fmt::format("transfer-{}", count),
         fmt::format("one write of {} packet{}", count, count > 1 ? "s" : ""), count >= kAlikeFrom},
        {.kind = time_of_one}, {node.access(Direction::write, size, size, 0, 1)},
        [of_packets = node.packets, size] {
          const NvlinkProbeResult r = run_nvlink_probe(of_packets, {.gpus = 2, .bytes = size});
          return LevelAnswer{to_seconds(r.time) * 1e9, r.events, r.payload};
        });
  }
}

// One rank's port and the library's time; all ranks do the same at the same time.
void add_all_reduces(Workloads& list, const std::shared_ptr<const Node>& node,
                     const Collective& library, const CollectiveProbeConfig& config,
                     const char* name, const char* title) {
  for (const NamedSize& size : kAllReduces) {
    const CollectiveCost cost =
        library.cost({CollectiveKind::all_reduce, Fabric::tensor, size.size, kGpus}, node->path());
    LevelAccess access{.payload = size.size, .latency = cost.latency, .least = cost.min_duration};
    if (cost.run > Bytes{}) {
      add_part(access, *node->port, node->port->cost(Direction::write, cost.out, cost.run));
      add_part(access, *node->port, node->port->incoming(cost.in, cost.run));
    }
    list.add({fmt::format("{}-{}", name, size.id), fmt::format("{} by {}", size.text, title)},
             {.kind = time}, {access}, [node, &library, config, bytes = size.size] {
               const CollectiveProbeResult r =
                   run_collective_probe(config, library, {.ranks = kGpus, .bytes = bytes});
               LevelAnswer out{to_seconds(r.time) * 1e6, r.events, {}};
               for (const FabricPortCounters& port : r.ports) out.simulated += port.payload_out;
               return out;
             });
  }
}

}  // namespace

std::vector<LevelWorkload> of_nvlink(const NvlinkConfig& port, const HopConfig& nvswitch,
                                     const DirectConfig* direct, const NcclConfig* nccl) {
  const auto node = std::make_shared<Node>(port, nvswitch);
  Workloads list("nvlink", node);
  add_accesses(list, *node);
  add_shared(list, *node);
  add_single_transfers(list, *node);
  std::vector<LevelWorkload> all = list.take();
  Workloads reduces("all-reduce", node);
  CollectiveProbeConfig config{.node = node->packets};
  if (direct != nullptr) {
    node->direct = make_device(*direct);
    config.direct = *direct;
    add_all_reduces(reduces, node, *node->direct, config, "direct", "one or two shots");
  }
  if (nccl != nullptr) {
    node->nccl = make_device(*nccl);
    config.nccl = *nccl;
    if (nccl->packet_level) config.packet = *nccl->packet_level;
    add_all_reduces(reduces, node, *node->nccl, config, "nccl", "NCCL");
  }
  std::vector<LevelWorkload> more = reduces.take();
  std::move(more.begin(), more.end(), std::back_inserter(all));
  return all;
}

std::vector<LevelWorkload> of_network(const NetworkConfig& adapter, const NcclConfig* nccl) {
  const auto node = std::make_shared<Node>(adapter);
  Workloads list("network", node);
  add_accesses(list, *node);
  add_shared(list, *node);
  add_single_transfers(list, *node);
  if (nccl != nullptr) {
    node->nccl = make_device(*nccl);
    CollectiveProbeConfig config{.node = node->packets, .nccl = *nccl};
    if (nccl->packet_level) config.packet = *nccl->packet_level;
    add_all_reduces(list, node, *node->nccl, config, "all-reduce", "NCCL");
  }
  return list.take();
}

}  // namespace tiersim::fidelity_map
