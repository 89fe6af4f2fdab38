// A PCI Express link between a device and its root complex, alone and behind a switch.
#include <fmt/format.h>

#include "hwmodels/packet/pcie/from_flow.hpp"
#include "hwmodels/packet/pcie/pcie_fabric.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "sim/core/engine.hpp"
#include "sim/validate/fidelity_map_devices.hpp"

namespace tiersim::fidelity_map {
namespace {

using namespace literals;
using enum LevelMeasure::Kind;

constexpr std::int64_t kDevices = 8;
constexpr std::int64_t kFewTags = 32;
constexpr Bytes kStreamTransfer = 64_KiB;
constexpr Bytes kGathered = 8_MiB;

PciePacketConfig alone_of(const PcieConfig& link) {
  PciePacketConfig config = with_flow(*link.packet_level, link);
  config.fabric_switch.reset();
  return config;
}

LevelAnswer rate_of(const PcieProbeResult& r) {
  return {r.bandwidth / 1_GBps, r.events, r.payload};
}
std::function<LevelAnswer()> packets(const PciePacketConfig& config, const PcieProbe& probe) {
  return [config, probe] { return rate_of(run_pcie_probe(config, probe)); };
}

PcieProbe pcie_stream(double read_share) {
  return {.size = kStreamTransfer,
          .read_share = read_share,
          .outstanding = 16,
          .transfers = kBulk.in_base() / kStreamTransfer.in_base()};
}
PcieProbe pcie_gather(Bytes run) {
  return {.size = run,
          .addresses = PcieProbe::Addresses::random,
          .outstanding = 1024,
          .transfers = std::max<std::int64_t>(20'000, kGathered.in_base() / run.in_base())};
}

// A read by a request engine with `tags` tags.
LevelAccess read_of(const PcieConfig& config, const Link& link, Bytes payload, Bytes run,
                    std::int64_t tags) {
  LevelAccess access = ask_of(link, Direction::read, payload, run);
  limit(access, run, {tags, config.max_read_request.value}, {}, {&link});
  return access;
}

// Two writes of one device that begin at the same time, the long one ahead of the short one.
class InOrder final : public PcieDevice::Owner {
 public:
  explicit InOrder(const PciePacketConfig& config) : fabric_(engine_, config, 1, nullptr, *this) {}

  LevelAnswer run(Bytes ahead, Bytes behind) {
    fabric_.device(0).start(Direction::write, 0, ahead, 0);
    fabric_.device(0).start(Direction::write, static_cast<std::uint64_t>(ahead.in_base()), behind,
                            1);
    engine_.run();
    return {to_seconds(ended_) * 1e9, engine_.events(), ahead + behind};
  }
  void ended(std::size_t, std::uint64_t transfer) override {
    if (transfer == 1) ended_ = engine_.now().time_since_epoch();
  }

 private:
  Engine engine_;
  PcieFabric fabric_;
  Duration ended_{};
};

// All accesses cross one link at the root, whose switch does not change the rate.
std::vector<LevelAccess> many_to_one(const Link& link, Direction direction) {
  std::vector<LevelAccess> accesses;
  for (std::size_t i = 0; i < std::size_t{kDevices}; ++i) {
    LevelAccess access = ask_of(link, direction, Bytes::from_base(kBulk.in_base() / kDevices),
                                kStreamTransfer, 1 + i);
    add_part(access, link, access.parts.front().cost, 0);
    accesses.push_back(std::move(access));
  }
  return accesses;
}

void add_single_transfers(Workloads& list, const PcieConfig& config, const Link& link) {
  for (const std::int64_t packets_of_it : kTransferPackets) {
    const Bytes size = config.max_payload.value * packets_of_it;
    LevelAccess access = ask_of(link, Direction::write, size, size);
    access.latency = latency_of(access);
    const PcieProbe probe{
        .size = size, .read_share = 0, .outstanding = 1, .transfers = 1, .warm_up = 0};
    list.add({fmt::format("transfer-{}", packets_of_it),
              fmt::format("one write of {} packet{}", packets_of_it, packets_of_it > 1 ? "s" : ""),
              packets_of_it >= kAlikeFrom},
             {.kind = time_of_one}, {access}, [config = alone_of(config), probe] {
               const PcieProbeResult r = run_pcie_probe(config, probe);
               return LevelAnswer{to_seconds(r.elapsed) * 1e9, r.events, r.payload};
             });
  }
}

void add_shared(Workloads& list, const PcieConfig& config, const Link& link) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    const bool read = direction == Direction::read;
    PcieProbe probe = pcie_stream(read ? 1 : 0);
    probe.devices = kDevices;
    probe.transfers /= kDevices;
    list.add({read ? "incast-read" : "incast",
              fmt::format("8 devices {} 1 root", read ? "read from" : "write to"), true},
             {.kind = rate}, many_to_one(link, direction),
             packets(with_flow(*config.packet_level, config), probe));
  }
  LevelAccess ahead = ask_of(link, Direction::write, kAhead, kAhead);
  LevelAccess behind = ask_of(link, Direction::write, 64_B, 64_B);
  ahead.latency = latency_of(ahead);
  behind.latency = latency_of(behind);
  list.add({"behind", "write of 64 B behind 1 MiB"}, {.kind = time_of_one, .index = 1},
           {ahead, behind},
           [alone = alone_of(config)] { return InOrder(alone).run(kAhead, 64_B); });
}

}  // namespace

std::vector<LevelWorkload> of_pcie(const PcieConfig& config) {
  const std::shared_ptr<Link> link = make_device(config);
  const PciePacketConfig alone = alone_of(config);
  const std::int64_t tags = alone.requester.tags.value;
  const LevelMeasure rate{};
  Workloads list("pcie", link);
  list.add({"stream", "64 MiB read in order", true}, rate,
           {read_of(config, *link, kBulk, kStreamTransfer, tags)}, packets(alone, pcie_stream(1)));
  list.add({"write-stream", "64 MiB written in order", true}, rate,
           {ask_of(*link, Direction::write, kBulk, kStreamTransfer)},
           packets(alone, pcie_stream(0)));
  PcieProbe mixed = pcie_stream(2.0 / 3);
  mixed.size = 4_KiB;
  mixed.outstanding = 256;
  mixed.transfers = kBulk.in_base() / mixed.size.in_base();
  list.add({"mixed", "2:1 reads and writes of 4 KiB"}, rate, mixed_asks(*link, kBulk, mixed.size),
           packets(alone, mixed));
  for (const NamedSize& run : kGatherRuns)
    list.add({std::string("read-") + run.id, std::string("random reads of ") + run.text}, rate,
             {read_of(config, *link, kGathered, run.size, tags)},
             packets(alone, pcie_gather(run.size)));
  PciePacketConfig few = alone;
  few.requester.tags.value = kFewTags;
  list.add({"tags", fmt::format("random 4 KiB reads, {} tags", kFewTags)}, rate,
           {read_of(config, *link, kGathered, 4_KiB, kFewTags)}, packets(few, pcie_gather(4_KiB)));
  add_shared(list, config, *link);
  add_single_transfers(list, config, *link);
  return list.take();
}

}  // namespace tiersim::fidelity_map
