// Microbenchmarks of NVLink against measurements, theory, and the flow level.
#include <gtest/gtest.h>

#include "tests/unit/packet/nvlink_h100.hpp"

namespace tiersim::nvlink_probe_test {
namespace {

using namespace testing;
using enum NvlinkPattern;

double gbps(const NvlinkNode& node, const NvlinkWorkload& workload) {
  return run_nvlink_probe(node, workload).bandwidth / 1e9;
}

// Issue 1264 of NVIDIA/nccl: 371-380 GB/s one way and 741-773 both ways, on H100.
TEST(NvlinkProbe, PointToPointIsWhatWasMeasured) {
  const double one = gbps(h100_node(), {.pattern = point_to_point, .gpus = 2, .bytes = 64_MiB});
  EXPECT_GE(one, 371);
  EXPECT_LE(one, 380);
  const double both = gbps(h100_node(), {.pattern = bidirectional, .gpus = 2, .bytes = 64_MiB});
  EXPECT_GE(both, 741);
  EXPECT_LE(both, 773);
}

// 200 * 0.888 of an H800's port, with 16 B on 256, less the acknowledgements of the other way.
TEST(NvlinkProbe, AnH800HasFourNinthsOfAnH100) {
  NvlinkNode h800 = h100_node();
  h800.port.raw.value = 200_GBps;
  h800.packet.links.value = 8;
  EXPECT_NEAR(gbps(h800, {.pattern = bidirectional, .gpus = 2, .bytes = 64_MiB}),
              2 * 200 * 0.888 * 256 / 272, 0.01 * 334);
}

TEST(NvlinkProbe, AllToAllFillsEveryPort) {
  EXPECT_NEAR(gbps(h100_node(), {.pattern = all_to_all, .bytes = 2_MiB}), 8 * 376.0,
              0.03 * 8 * 376);
}

TEST(NvlinkProbe, LittlesLawHolds) {
  for (const double reads : {0.0, 0.5, 1.0})
    for (const Duration gap : {Duration{}, Duration(20ns)}) {
      const NvlinkProbeResult r = run_nvlink_probe(h100_node(), {.pattern = uniform,
                                                                 .bytes = 1000_B,
                                                                 .accesses = 500,
                                                                 .outstanding = 32,
                                                                 .read_share = reads,
                                                                 .mean_gap = gap,
                                                                 .until_acknowledged = true});
      const double rate = static_cast<double>(8 * 500) / to_seconds(r.time);
      // Latencies are rounded up to 1 ps in the mean.
      EXPECT_NEAR(r.mean_in_system, rate * to_seconds(r.latency.mean), 1e-5 * r.mean_in_system);
    }
}

// A closed loop of q reads over one pair of links: q a round trip, until the wire is full.
TEST(NvlinkProbe, OutstandingReadsOverTheirRoundTripAreTheRate) {
  NvlinkNode node = h100_node();
  for (const std::int64_t q : {1, 4, 16, 64}) {
    const NvlinkProbeResult r = run_nvlink_probe(node, {.pattern = point_to_point,
                                                        .gpus = 2,
                                                        .bytes = 256_B,
                                                        .accesses = 2000,
                                                        .outstanding = q,
                                                        .read_share = 1});
    // 2 * 550 ns, 16 B and 272 B at 22.2 GB/s. Those that begin together on one of 18 links stay
    // together, and the last waits for all others of its link.
    const double round = 1100 + 0.72 + 12.25;
    const double bunch = static_cast<double>((q - 1) / 18) * (0.72 + 12.25);
    const double most = static_cast<double>(q) * 256 / round;
    EXPECT_LE(r.bandwidth / 1e9, most) << q;
    EXPECT_GE(r.bandwidth / 1e9, most * round / (round + bunch) * (1 - 1e-3)) << q;
  }
}

// One link with Poisson arrivals of equal packets is M/D/1: the mean wait is rho / (2 (1 - rho)) of
// a packet's time. 1e5 customers give it to 4 % at rho = 0.7 (95 %; see tests/theory), so 6 %.
TEST(NvlinkProbe, PoissonArrivalsWaitAsPollaczekAndKhinchineSay) {
  FabricShape s = shape_of(h100_node(), 2);
  s.links = 1;
  s.ack_every = 0;
  s.credits = 0;
  const double packet = to_seconds(272_B / s.link_rate) * 1e12;
  const double rho = 0.7;
  const auto gap = Duration(static_cast<std::int64_t>(packet / rho));
  const NvlinkProbeResult r = run_nvlink_probe(s, {.pattern = point_to_point,
                                                   .gpus = 2,
                                                   .bytes = 256_B,
                                                   .accesses = 100'000,
                                                   .mean_gap = gap,
                                                   .seed = 5});
  const double wait = to_seconds(r.latency.mean) * 1e12 - 550e3 - packet;
  EXPECT_NEAR(wait / packet, rho / (2 * (1 - rho)), 0.06 * rho / (2 * (1 - rho)));
}

// Random reads of g bytes: a sector and a header at least, as the flow level says.
TEST(NvlinkProbe, SmallRandomReadsPayForTheirHeaders) {
  double last = 0;
  for (const std::int64_t bytes : {32, 64, 256, 4096}) {
    const NvlinkProbeResult r = run_nvlink_probe(h100_node(), {.pattern = point_to_point,
                                                               .gpus = 2,
                                                               .bytes = Bytes::from_base(bytes),
                                                               .accesses = 20'000,
                                                               .outstanding = 8192,
                                                               .read_share = 1,
                                                               .random_addresses = true});
    const double packets = bytes == 4096 ? 16 : 1;
    const double most =
        399.6 * static_cast<double>(bytes) / (static_cast<double>(bytes) + 16 * packets);
    EXPECT_LE(r.bandwidth / 1e9, most) << bytes;
    EXPECT_GT(r.bandwidth, last) << bytes;
    last = r.bandwidth;
  }
}

// The flow level on the same port: the payload and headers of all flows over the port that has most
// of them, and the way. Within 2 %, as long as neither credits nor acknowledgements take part.
TEST(NvlinkProbe, AgreesWithTheFlowLevelOnTransfersOf64PacketsAndMore) {
  NvlinkNode a100 = h100_node();
  a100.port.raw.value = 300_GBps;
  a100.packet.links.value = 12;
  for (NvlinkNode node : {h100_node(), a100})
    for (const NvlinkPattern pattern : {point_to_point, bidirectional, incast, all_to_all})
      for (const Bytes bytes : {16_KiB, 100'000_B, 1_MiB})
        for (const Direction direction : {Direction::write, Direction::read}) {
          node.packet.credits.value = 0;
          node.packet.ack_every.value = 0;
          const bool read = direction == Direction::read;
          const NvlinkProbeResult r = run_nvlink_probe(
              node, {.pattern = pattern, .bytes = bytes, .read_share = read ? 1.0 : 0.0});
          const auto port = make_device(node.port);
          const AccessCost cost = port->cost(direction, bytes, bytes);
          // Reads ask one way and write the other, so a port with both has the requests beside the
          // data. Of an incast of reads, GPU 0 is the one that all read from.
          const bool all = pattern == all_to_all || pattern == incast;
          Bytes busy = cost.charges.front().busy;
          if (read && (pattern == bidirectional || pattern == all_to_all))
            busy += cost.charges[1].busy;
          const Duration flow = cost.latency + (read ? 400ns : 200ns) +
                                busy * (all ? 7 : 1) / port->channels()[0].capacity;
          // With reads only, their requests may pass before the first data.
          const Duration early =
              busy > cost.charges.front().busy
                  ? cost.charges[1].busy * (all ? 7 : 1) / port->channels()[0].capacity
                  : Duration{};
          EXPECT_LE(to_seconds(r.time), 1.02 * to_seconds(flow))
              << static_cast<int>(pattern) << ' ' << bytes.in_base() << ' ' << read;
          EXPECT_GE(to_seconds(r.time), 0.98 * to_seconds(flow - early))
              << static_cast<int>(pattern) << ' ' << bytes.in_base() << ' ' << read;
        }
}

}  // namespace
}  // namespace tiersim::nvlink_probe_test
