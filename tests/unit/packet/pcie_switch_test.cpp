#include <gtest/gtest.h>

#include "hwmodels/packet/pcie/pcie_probe.hpp"

namespace tiersim::pcie_switch_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

PciePacketConfig with_switch() {
  PciePacketConfig c;
  c.raw.value = 1_GBps;
  c.framing.link_packet.value = 0_B;
  c.framing.skip.value = 0_B;
  c.requester.tags.value = 64;
  c.fabric_switch.emplace();
  c.fabric_switch->latency.value = 100ns;
  return c;
}
const PcieProbe kOneWrite{
    .size = 256_B, .read_share = 0, .outstanding = 1, .transfers = 1, .warm_up = 0};

// 280 B at 1 B/ns over two links.
TEST(PcieSwitch, StoreAndForwardTakesThePacketTwice) {
  PciePacketConfig c = with_switch();
  c.fabric_switch->forwarding = SwitchForwarding::store_and_forward;
  EXPECT_EQ(run_pcie_probe(c, kOneWrite).latency.mean, 280ns + 100ns + 280ns);
}

TEST(PcieSwitch, CutThroughTakesTheHeaderTwice) {
  EXPECT_EQ(run_pcie_probe(with_switch(), kOneWrite).latency.mean, 24ns + 100ns + 280ns);
}

// To a link of twice the rate a packet must not leave so early that its end is not there yet.
TEST(PcieSwitch, CutThroughToAFasterLinkNeverRunsDry) {
  PciePacketConfig c = with_switch();
  c.fabric_switch->upstream_raw = {.value = 2_GBps};
  EXPECT_EQ(run_pcie_probe(c, kOneWrite).latency.mean, 280ns + 100ns);
}

PcieProbeResult four_devices(const PciePacketConfig& c, double read_share) {
  PcieProbe probe{
      .size = 1024_B, .read_share = read_share, .outstanding = 16, .transfers = 2000, .devices = 4};
  return run_pcie_probe(c, probe);
}

TEST(PcieSwitch, DevicesShareTheUpstreamLinkEvenly) {
  const PcieProbeResult result = four_devices(with_switch(), 0);
  for (const Bandwidth each : result.of_device) {
    EXPECT_NEAR(each / 1_GBps, 0.25 * 256 / 280, 0.01 * 0.25);
  }
  EXPECT_EQ(result.packets_left_behind, 0);
}

TEST(PcieSwitch, WeightsShareTheUpstreamLink) {
  PciePacketConfig c = with_switch();
  c.fabric_switch->weights = {1, 1, 2, 4};
  const PcieProbeResult result = four_devices(c, 0);
  const double total = result.bandwidth / 1_GBps;
  EXPECT_NEAR(total, 256.0 / 280, 0.01);
  EXPECT_NEAR(result.of_device[3] / result.bandwidth, 4.0 / 8, 0.01);
  EXPECT_NEAR(result.of_device[0] / result.bandwidth, 1.0 / 8, 0.01);
}

// Reads of four devices at the links' own rate, behind an upstream link of four times that: with
// one queue an answer for a busy device stops those behind it once buffers are short.
TEST(PcieSwitch, OneQueueBlocksBehindItsHead) {
  PciePacketConfig c = with_switch();
  c.host.read_latency.value = 500ns;
  c.fabric_switch->upstream_raw = {.value = 4_GBps};
  c.credits.completion_headers = {.value = 8};
  c.credits.completion_data = {.value = 8 * 16};
  PcieProbe probe{.size = 4096_B, .outstanding = 4, .transfers = 600, .devices = 4};
  const PcieProbeResult separate = run_pcie_probe(c, probe);
  c.fabric_switch->queues = SwitchQueues::fifo;
  const PcieProbeResult fifo = run_pcie_probe(c, probe);
  EXPECT_LT(fifo.bandwidth / separate.bandwidth, 0.95);
  EXPECT_EQ(fifo.payload, separate.payload);
  EXPECT_EQ(fifo.credits_held, 0);
}

}  // namespace
}  // namespace tiersim::pcie_switch_test
