// Effects that the flow level ignores, measured: shipped devices at flow level beside their own
// packets. Each bound is derived from the ignored effects, or is the measured difference, rounded
// up; hwmodels/README.md lists them.
#include <array>
#include <filesystem>

#include <gtest/gtest.h>

#include "hwmodels/compute/sm_loads.hpp"
#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/pcie.hpp"
#include "hwmodels/memory/dram.hpp"
#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "hwmodels/packet/nvlink/nvlink_probe.hpp"
#include "hwmodels/packet/pcie/from_flow.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "sim/config/describe.hpp"
#include "sim/step/system_config.hpp"
#include "tests/unit/hwmodels/link_rate.hpp"

namespace tiersim::flow_against_packets_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::rate_of;

template <class Config, class Interface>
Config shipped(const std::string& name) {
  const auto root = std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
  Diagnostics diagnostics;
  const Document document =
      load_document(root / "devices" / (name + ".yaml"), {.config_root = root}, diagnostics);
  auto device = read<DeviceConfig<Interface>>(document, "device", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return *config_of<Config>(*device.spec);
}

double giga(Bandwidth rate) {
  return static_cast<double>(rate.in_base()) / 1e9;
}
double in_ns(Duration time) {
  return to_seconds(time) * 1e9;
}

// One access alone: the latency, and the time of its bytes on the slowest channel.
double access_ns(const Link& link, Direction direction, Bytes bytes) {
  const AccessCost cost = link.cost(direction, bytes, bytes);
  Duration longest{};
  for (const Charge& charge : cost.charges)
    longest = std::max(longest, charge.busy / link.channels()[charge.channel].capacity);
  return in_ns(cost.latency + longest);
}

// A memory without time.
class NoMemory final : public MemoryTier {
 public:
  std::span<const Channel> channels() const override { return {}; }
  Bytes capacity() const override { return {}; }
  AccessCost cost(Direction, Bytes, Bytes) const override { return {}; }
};

// GB/s of a read whose engine keeps `window` in flight, over this link alone.
double windowed(const Link& link, Bytes run, std::int64_t requests) {
  SmLoadsConfig c;
  c.to_gpu.value = 1000_GBps;
  c.from_gpu.value = 1000_GBps;
  c.in_flight.value = run * requests;
  const NoMemory memory;
  const std::array<const Link*, 1> links{&link};
  const RoundTrip trip{
      .unloaded = link.cost(Direction::read, run, run).latency, .memory = &memory, .links = links};
  const Bytes payload = run * 1'000'000;
  const Duration time = make_device(c)->cost(Direction::read, payload, run, trip).min_duration;
  const double engine = static_cast<double>(payload.in_base()) / to_seconds(time) / 1e9;
  return std::min(engine, rate_of(link, payload, {}, run));
}

PciePacketConfig pcie_packets(const PcieConfig& config) {
  PciePacketConfig packets = with_flow(*config.packet_level, config);
  packets.requester.tags.value = 8192;  // the window is the test's
  return packets;
}

// Both levels count headers and the share of link packets only: 0.2 % remain from the probe's
// window of some thousand transfers.
TEST(FlowAgainstPackets, PcieSaturatesAlikeAtEverySize) {
  for (const char* generation : {"pcie_gen4_x16", "pcie_gen5_x16", "pcie_gen6_x16"}) {
    const auto config = shipped<PcieConfig, Link>(generation);
    const auto link = make_device(config);
    for (const bool read : {true, false})
      for (const std::int64_t size : {8, 32, 64, 128, 256, 512, 4096}) {
        const Bytes run = Bytes::from_base(size);
        PcieProbe probe;
        probe.size = run;
        probe.read_share = read ? 1 : 0;
        probe.outstanding = size < 4096 ? 8192 : 1024;
        probe.transfers = size < 4096 ? 30'000 : 6'000;
        const double packet = giga(run_pcie_probe(pcie_packets(config), probe).bandwidth);
        const double flow =
            rate_of(*link, read ? run * 1000 : Bytes{}, read ? Bytes{} : run * 1000, run);
        EXPECT_NEAR(flow / packet, 1, 0.002) << generation << ' ' << read << ' ' << size;
      }
  }
}

// Little's law at both levels. Flow leaves out the time that a request's own data take on the wire:
// 512 B at 52.7 GB/s are 10 ns of 1.17 us.
TEST(FlowAgainstPackets, PcieRequestsInFlightLimitTheRateWithinAPercent) {
  const auto config = shipped<PcieConfig, Link>("pcie_gen5_x16");
  const auto link = make_device(config);
  for (const std::int64_t size : {64, 256, 512})
    for (const std::int64_t requests : {1, 8, 32, 64, 128, 256, 1024}) {
      PcieProbe probe;
      probe.size = Bytes::from_base(size);
      probe.outstanding = requests;
      probe.transfers = std::max<std::int64_t>(4'000, requests * 20);
      const double packet = giga(run_pcie_probe(pcie_packets(config), probe).bandwidth);
      EXPECT_NEAR(windowed(*link, probe.size, requests) / packet, 1, 0.01)
          << size << ' ' << requests;
    }
}

// A small transfer takes the latency of the link, and then its bytes take the rate of the link:
// within 0.4 %, two flits of Gen6 in 590 ns one way, which end a packet at packet level.
TEST(FlowAgainstPackets, PcieTransfersOfFewPacketsTakeAsLong) {
  for (const char* generation : {"pcie_gen4_x16", "pcie_gen5_x16", "pcie_gen6_x16"}) {
    const auto config = shipped<PcieConfig, Link>(generation);
    const auto link = make_device(config);
    for (const Direction direction : {Direction::read, Direction::write})
      for (const std::int64_t packets : {1, 2, 4, 8, 16, 32, 64}) {
        PcieProbe probe;
        probe.size = 256_B * packets;
        probe.read_share = direction == Direction::read ? 1 : 0;
        probe.outstanding = 1;
        probe.transfers = 100;
        const double packet = in_ns(run_pcie_probe(pcie_packets(config), probe).latency.mean);
        EXPECT_NEAR(access_ns(*link, direction, probe.size) / packet, 1, 0.004)
            << generation << ' ' << name(direction) << ' ' << packets;
      }
  }
}

CxlPacketConfig cxl_packets(const CxlConfig& config) {
  CxlPacketConfig packets = with_flow(*config.packet_level, config);
  packets.host.outstanding.value = 4096;  // the window is the test's
  packets.device.outstanding.value = 4096;
  packets.credits.requests.value = 4096;
  packets.credits.writes.value = 4096;
  packets.credits.responses.value = 8192;
  return packets;
}

// Slots are counted alike; a drawn mix of 20,000 accesses has its share to 0.7 % (two standard
// deviations at 2:1), which moves the larger side by as much.
TEST(FlowAgainstPackets, CxlMixesSaturateAlike) {
  const auto config = shipped<CxlConfig, Link>("cxl_expander_link_gen5_x8");
  const auto link = make_device(config);
  for (const int reads : {3, 2, 0}) {
    CxlProbe probe;
    probe.read_share = reads / 3.0;
    probe.outstanding = 4096;
    probe.accesses = 40'000;
    const double packet = giga(run_cxl_probe(cxl_packets(config), probe).bandwidth);
    EXPECT_NEAR(rate_of(*link, 64_B * 1000 * reads, 64_B * 1000 * (3 - reads), 64_B) / packet, 1,
                0.007)
        << reads;
  }
}

// The stated 154 ns were measured with a line's own time in them, which flow adds once more: 2.4 ns
// of 4.5 slots, 1.6 %; packets also fill the flits that they are in to 4 slots, another 1 %.
TEST(FlowAgainstPackets, CxlReadsOfFewLinesAndWindowsAreWithinTheirOwnTransfer) {
  const auto config = shipped<CxlConfig, Link>("cxl_expander_link_gen5_x8");
  const auto link = make_device(config);
  for (const std::int64_t lines : {1, 2, 4, 8, 16, 32, 64}) {
    CxlProbe probe;
    probe.size = 64_B * lines;
    probe.addresses = CxlProbe::Addresses::sequential;
    probe.outstanding = lines;
    probe.accesses = 400;
    const double packet = in_ns(run_cxl_probe(cxl_packets(config), probe).read.mean);
    EXPECT_NEAR(access_ns(*link, Direction::read, probe.size) / packet, 1, 0.026) << lines;
  }
  for (const std::int64_t lines : {1, 16, 48, 64, 128}) {
    CxlProbe probe;
    probe.outstanding = lines;
    const double packet = giga(run_cxl_probe(cxl_packets(config), probe).bandwidth);
    EXPECT_NEAR(windowed(*link, 64_B, lines) / packet, 1, 0.026) << lines;
  }
}

// A packet of 256 B crosses one of 18 links in 12.2 ns, and all of them in .7 at flow level: 2.1 %
// of a write's 550 ns, and less of what is longer.
TEST(FlowAgainstPackets, NvlinkTransfersOfFewPacketsLackThoseOfOneLink) {
  const auto config = shipped<NvlinkConfig, Link>("nvlink4_h100");
  const auto link = make_device(config);
  const NvlinkNode node{.port = config,
                        .packet = *config.packet_level,
                        .switch_latency = {.value = 400ns},
                        .packet_switch = {},
                        .memory = {}};
  for (const Direction direction : {Direction::read, Direction::write})
    for (const std::int64_t packets : {1, 2, 4, 8, 16, 32, 64}) {
      NvlinkWorkload work;
      work.bytes = 256_B * packets;
      work.read_share = direction == Direction::read ? 1 : 0;
      const double packet = in_ns(run_nvlink_probe(node, work).latency.mean);
      const double flow =
          access_ns(*link, direction, work.bytes) + (direction == Direction::read ? 400 : 200);
      EXPECT_LE(flow, packet * 1.001) << packets;
      EXPECT_GE(flow, packet * 0.979) << packets;
    }
}

double share(const DramConfig& config, Bytes reads, Bytes writes, Bytes run) {
  const auto memory = make_device(config);
  Bytes busy{};
  for (const auto& [direction, payload] :
       {std::pair{Direction::read, reads}, std::pair{Direction::write, writes}})
    if (payload > Bytes{}) busy += memory->cost(direction, payload, run).charges.front().busy;
  return (reads + writes) / busy;
}

// Flow knows rows and atoms, and no banks, uneven load or turnaround. Measured with 4096 atoms
// outstanding in a stack: .7 to 5.7 % too much for reads, 3.4 to 12.2 % at 2:1. The first 1.5 % of
// a run fill and drain the queues.
TEST(FlowAgainstPackets, RandomRunsOfHbmAreFastByBankConflictsAndTurnaround) {
  for (const char* name : {"h100_hbm3", "h200_hbm3e"}) {
    const auto config = shipped<DramConfig, MemoryTier>(name);
    for (const std::int64_t size : {32, 64, 256, 4096}) {
      const Bytes run = Bytes::from_base(size);
      DramProbe probe{.run = run, .outstanding_atoms = 4096, .atoms = 400'000};
      const double reads = run_dram_probe(*config.packet_level, probe).achieved;
      EXPECT_LE(share(config, run * 3000, {}, run), 1.06 * reads) << name << ' ' << size;
      EXPECT_GE(share(config, run * 3000, {}, run), 0.99 * reads) << name << ' ' << size;
      probe.read_share = 2.0 / 3;
      const double mixed = run_dram_probe(*config.packet_level, probe).achieved;
      EXPECT_LE(share(config, run * 2000, run * 1000, run), 1.13 * mixed) << name << ' ' << size;
      EXPECT_GE(share(config, run * 2000, run * 1000, run), 0.99 * mixed) << name << ' ' << size;
    }
  }
}

}  // namespace
}  // namespace tiersim::flow_against_packets_test
