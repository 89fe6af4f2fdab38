#include <numeric>

#include <gtest/gtest.h>

#include "hwmodels/packet/cxl/cxl_probe.hpp"

namespace tiersim::cxl_pool_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

CxlPacketConfig pool() {
  CxlPacketConfig c;
  c.raw.value = 32_GBps;
  c.flight.value = 15ns;
  c.device.latency.value = 20ns;
  c.device.memory_latency.value = 50ns;
  c.pool_switch.emplace();
  c.pool_switch->latency.value = 45ns;
  return c;
}
CxlProbe hosts(std::int64_t count, double read_share) {
  CxlProbe probe;
  probe.hosts = count;
  probe.read_share = read_share;
  probe.accesses = 10'000;
  return probe;
}

// Twice the switch, two more flights, and the flits once more.
TEST(CxlPool, ASwitchAddsItsHopsToARead) {
  CxlPacketConfig c = pool();
  const CxlProbe one{.outstanding = 1, .accesses = 1, .warm_up = 0};
  const Duration through = run_cxl_probe(c, one).read.mean;
  c.pool_switch.reset();
  const Duration direct = run_cxl_probe(c, one).read.mean;
  EXPECT_NEAR(to_seconds(through - direct) * 1e9, 2 * 45 + 2 * 15 + 3 * 2.159, 0.01);
}

TEST(CxlPool, HostsThatAskAlikeShareAPortAlike) {
  for (const std::int64_t count : {2, 4, 8}) {
    for (const double read_share : {1.0, 0.5, 0.0}) {
      const CxlProbeResult result = run_cxl_probe(pool(), hosts(count, read_share));
      EXPECT_GT(result.jain, 0.9999) << count << ' ' << read_share;
      EXPECT_EQ(result.messages_left_behind, 0);
    }
  }
}

// Reads are a window of requests each: with 32 and 128 in flight the port's line rate goes 1 to 4,
// since nothing holds requests up, and (1/5 + 4/5)^2 / (2 (1/25 + 16/25)) = .7353.
TEST(CxlPool, ReadsShareByWhatIsInFlight) {
  CxlPacketConfig c = pool();
  c.device.outstanding.value = 1024;
  c.credits.requests.value = 1024;
  CxlProbe probe = hosts(2, 1.0);
  probe.outstanding_of = {32, 128};
  const CxlProbeResult result = run_cxl_probe(c, probe);
  EXPECT_NEAR(result.of_host[0] / result.bandwidth, 0.2, 0.01);
  EXPECT_NEAR(result.jain, 25.0 / 34, 0.02);
}

// Writes queue for the device's port, whose turns are even: with enough in flight to keep a queue
// each, both hosts get half although one has three times as much in flight.
TEST(CxlPool, TurnsGiveWritersHalfEach) {
  CxlProbe probe = hosts(2, 0.0);
  probe.outstanding_of = {400, 1200};
  CxlPacketConfig c = pool();
  c.host.outstanding.value = 2000;
  const CxlProbeResult result = run_cxl_probe(c, probe);
  EXPECT_NEAR(result.of_host[0] / result.bandwidth, 0.5, 0.01);
}

TEST(CxlPool, WeightsShareTheDevicesPort) {
  CxlPacketConfig c = pool();
  c.pool_switch->weights = {1, 3};
  const CxlProbeResult result = run_cxl_probe(c, hosts(2, 0.0));
  EXPECT_NEAR(result.of_host[0] / result.bandwidth, 0.25, 0.01);
  EXPECT_NEAR(result.jain, 0.8, 0.01);  // 1 / (2 (1/16 + 9/16))
}

TEST(CxlPool, OneQueueBlocksBehindItsHead) {
  CxlPacketConfig c = pool();
  CxlProbe probe = hosts(4, 0.0);
  probe.devices = 4;
  probe.interleave = 64_B;
  const CxlProbeResult separate = run_cxl_probe(c, probe);
  c.pool_switch->queues = SwitchQueues::fifo;
  const CxlProbeResult fifo = run_cxl_probe(c, probe);
  // Saturated input queues of four ports pass .655 (Karol, Hluchyj and Morgan 1987); windows of 128
  // and the devices' buffers lie between that and all.
  EXPECT_LT(fifo.bandwidth / separate.bandwidth, 0.9);
  EXPECT_GT(fifo.bandwidth / separate.bandwidth, 0.6);
  EXPECT_EQ(fifo.messages, separate.messages);
}

// Random lines over two devices, virtual output queues: nothing but the ports limits.
TEST(CxlPool, TwiceTheDevicesTakeTwiceTheLoad) {
  CxlPacketConfig c = pool();
  CxlProbe probe = hosts(2, 1.0);
  const double one = run_cxl_probe(c, probe).bandwidth / 1_GBps;
  probe.hosts = 4;
  probe.devices = 2;
  probe.interleave = 64_B;
  const double two = run_cxl_probe(c, probe).bandwidth / 1_GBps;
  EXPECT_NEAR(two / one, 2, 0.05);
}

}  // namespace
}  // namespace tiersim::cxl_pool_test
