#include <algorithm>

#include <gtest/gtest.h>

#include "hwmodels/link/cxl.hpp"
#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"

namespace tiersim::cxl_probe_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

double gigabytes(Bandwidth b) {
  return static_cast<double>(b.in_base()) * 1e-9;
}

/// A Gen5 x8 expander whose unloaded read takes 107 ns from pin to pin: 30 of flight, 20 of its
/// controller, 50 of its memory, and two or three flits of 2.16 ns.
CxlPacketConfig expander() {
  CxlPacketConfig c;
  c.raw.value = 32_GBps;
  c.flight.value = 15ns;
  c.device.latency.value = 20ns;
  c.device.memory_latency.value = 50ns;
  return c;
}
CxlPacketConfig without_limits() {
  CxlPacketConfig c = expander();
  c.credits = {{.value = 4096}, {.value = 4096}, {.value = 4096}};
  c.host.outstanding.value = 4096;
  c.device.outstanding.value = 4096;
  return c;
}

// Lines a second are slots / max(4.5 r + .5 (1 - r), r + 5 (1 - r)): 26.36 GB/s of reads, 37.46 at
// two reads a write, 23.72 of writes; of 256 B flits at twice the rate 53.3, 75.8 and 48. Drawing
// 40 000 directions puts r off by .0024, which moves the middle one by .4 %.
TEST(CxlProbe, SaturatesWhereTheSlotsAreFull) {
  for (const std::int64_t flit : {68, 256}) {
    CxlPacketConfig c = without_limits();
    c.flit.value = Bytes::from_base(flit);
    if (flit == 256) c.raw.value = 64_GBps;
    const double slots = flit == 68 ? 32.0 * 128 / 130 / 68 * 4 : 64.0 / 256 * 15;
    for (const double r : {1.0, 0.9, 2.0 / 3, 0.5, 0.0}) {
      CxlProbe probe;
      probe.read_share = r;
      probe.outstanding = 1024;
      probe.accesses = 40'000;
      const double lines = slots / std::max(4.5 * r + 0.5 * (1 - r), r + 5 * (1 - r));
      EXPECT_NEAR(gigabytes(run_cxl_probe(c, probe).bandwidth), lines * 64, 0.01 * lines * 64)
          << flit << ' ' << r;
    }
  }
}

// Published for Gen5 x8: 26.4, 37.5 (2R:1W) and 23.7 GB/s. Band: 5 %. With 48 lines in the device.
TEST(CxlProbe, ReachesThePublishedMixes) {
  struct Mix {
    double read_share;
    double published;
  };
  for (const Mix mix : {Mix{1.0, 26.4}, Mix{2.0 / 3, 37.5}, Mix{0.0, 23.7}}) {
    CxlProbe probe;
    probe.read_share = mix.read_share;
    EXPECT_NEAR(gigabytes(run_cxl_probe(expander(), probe).bandwidth), mix.published,
                0.05 * mix.published)
        << mix.read_share;
  }
}

// The manufacturer's curve in Mess (commit e387efc) begins at 107.4 ns and saturates at 29.5 GB/s
// with 90 % reads.
TEST(CxlProbe, AnIdleExpanderAnswersInOneHundredAndSevenNanoseconds) {
  CxlProbe probe{.outstanding = 1, .accesses = 1, .warm_up = 0};
  const CxlProbeResult result = run_cxl_probe(expander(), probe);
  // A flit for the request, two for the line, each ceil(68 B / 31.507... GB/s) = 2159 ps.
  EXPECT_EQ(result.read.mean, 100ns + Duration(3 * 2159 - 1));
  EXPECT_NEAR(to_seconds(result.read.mean) * 1e9, 107.4, 1.5);
}

// 284 ns load to use (CXL-DMSim) where local memory takes 130 ns: 177 of them at the host.
TEST(CxlProbe, TheHostsPartIsAdded) {
  CxlPacketConfig c = expander();
  c.host.latency.value = 177ns;
  CxlProbe probe{.outstanding = 1, .accesses = 1, .warm_up = 0};
  EXPECT_NEAR(to_seconds(run_cxl_probe(c, probe).read.mean) * 1e9, 284, 2);
}

TEST(CxlProbe, LinesInFlightLimitTheRate) {
  CxlPacketConfig c = expander();
  CxlProbe one{.outstanding = 1, .accesses = 1, .warm_up = 0};
  const double round_trip = to_seconds(run_cxl_probe(c, one).read.mean);
  CxlProbe probe;
  probe.outstanding = 8;
  const double of_host = 8 * 64 / round_trip * 1e-9;  // 4.8 GB/s
  // Lines that leave together share flits, so that some of them wait for a flit or two.
  const double flits = 2 * 2.159e-9 / round_trip;
  EXPECT_NEAR(gigabytes(run_cxl_probe(c, probe).bandwidth), of_host, flits * of_host);
  // 4 lines in a device for 70 ns and until their header has left.
  c.device.outstanding.value = 4;
  probe.outstanding = 128;
  const CxlProbeResult result = run_cxl_probe(c, probe);
  EXPECT_NEAR(gigabytes(result.bandwidth), 4 * 64 / 70.0, 4 * 64 / 70.0 * 2 * 2.159 / 70);
  EXPECT_EQ(result.most_at_device, 4);
}

TEST(CxlProbe, TheMemoryBehindMayBeTheLimit) {
  CxlPacketConfig c = expander();
  FixedMemory memory(10_GBps, 50ns);
  EXPECT_NEAR(gigabytes(run_cxl_probe(c, {}, {&memory}).bandwidth), 10, 0.01);
  c.device.memory_rate = {.value = 5_GBps};
  EXPECT_NEAR(gigabytes(run_cxl_probe(c, {}).bandwidth), 5, 0.01);
}

/// Answers in any order.
class ShufflingMemory final : public MemoryPort {
 public:
  void serve(Engine& engine, const Request& request, Client& client) override {
    const auto delay = static_cast<std::int64_t>(rng_.below(200'000));
    engine.call_after(Duration(delay), [&client, tag = request.tag] { client.served(tag); });
  }

 private:
  Rng rng_{3, "memory"};
};

// Uniform up to 200 ns: 100 ns instead of 50 in the mean, 16 000 samples of deviation 58 ns.
TEST(CxlProbe, AMemoryMayAnswerInAnyOrder) {
  CxlProbe probe;
  probe.offered = 1_GBps;
  const CxlProbeResult fixed = run_cxl_probe(expander(), probe);
  ShufflingMemory memory;
  const CxlProbeResult shuffled = run_cxl_probe(expander(), probe, {&memory});
  EXPECT_NEAR(to_seconds(shuffled.read.mean - fixed.read.mean) * 1e9, 50, 3 * 58 / 126.0);
  EXPECT_EQ(shuffled.messages_left_behind, 0);
}

// A tenth of the accesses takes 1 us more on average: 100 ns in the mean, nothing in the median.
TEST(CxlProbe, ATailMovesTheMeanAndNotTheMedian) {
  CxlPacketConfig c = without_limits();
  CxlProbe probe;
  probe.offered = 1_GBps;
  const CxlProbeResult without = run_cxl_probe(c, probe);
  c.device.tail = CxlTail{{.value = 0.1}, {.value = 1us}, 5};
  const CxlProbeResult with = run_cxl_probe(c, probe);
  // 16 000 samples of variance .1 x 2 - .01 us^2: standard error 3.4 ns, three of them.
  EXPECT_NEAR(to_seconds(with.read.mean - without.read.mean) * 1e9, 100, 10.4);
  EXPECT_LT(with.read.p50 - without.read.p50, 3ns);
  EXPECT_GT(with.read.p99, without.read.p99 + 1us);  // .1 e^-x = .01 at 2.3 us
  CxlPacketConfig other = c;
  other.device.tail->seed = 6;
  EXPECT_NE(run_cxl_probe(other, probe).read.mean, with.read.mean);
}

TEST(CxlProbe, EverythingThatEnteredLeftAndLittlesLawHolds) {
  CxlPacketConfig c = expander();
  c.credits.requests.value = 8;
  c.credits.writes.value = 4;
  for (const Bandwidth offered : {Bandwidth{}, 10_GBps}) {
    CxlProbe probe;
    probe.size = 256_B;
    probe.read_share = 0.6;
    probe.offered = offered;
    probe.accesses = 5000;
    const CxlProbeResult result = run_cxl_probe(c, probe);
    EXPECT_EQ(result.accesses, 5000);
    EXPECT_EQ(result.messages, 2 * 4 * 5000);
    EXPECT_EQ(result.messages_left_behind, 0);
    EXPECT_EQ(result.credits_held, 0);
    EXPECT_EQ(result.credits_issued, result.messages);
    const double little = result.mean_in_system * static_cast<double>(result.elapsed.count());
    EXPECT_NEAR(little / static_cast<double>(result.stays), 1.0, 1e-9);
  }
}

TEST(CxlProbe, TheSameSeedGivesTheSameRun) {
  CxlProbe probe;
  probe.read_share = 0.5;
  probe.offered = 20_GBps;
  probe.accesses = 2000;
  const CxlProbeResult first = run_cxl_probe(expander(), probe);
  const CxlProbeResult again = run_cxl_probe(expander(), probe);
  EXPECT_EQ(first.elapsed, again.elapsed);
  EXPECT_EQ(first.events, again.events);
  probe.seed = 2;
  EXPECT_NE(run_cxl_probe(expander(), probe).elapsed, first.elapsed);
}

// One bottleneck, no limit in flight, 64 lines and more: within 2 % of the flow level, whose
// latency is that of one line.
TEST(CxlProbe, AgreesWithTheFlowLevel) {
  for (const std::int64_t flit : {68, 256}) {
    CxlPacketConfig c = without_limits();
    c.flit.value = Bytes::from_base(flit);
    if (flit == 256) c.raw.value = 64_GBps;
    CxlProbe one{.outstanding = 1, .accesses = 1, .warm_up = 0};
    const Duration line = run_cxl_probe(c, one).read.mean;
    CxlConfig f;
    f.raw = c.raw;
    f.ports = Sourced<std::int64_t>{.value = 1};
    f.flit = c.flit;
    f.latency.value = line;
    const auto link = make_device(f);
    for (const std::int64_t lines : {64, 256, 4096}) {
      CxlProbe probe{
          .size = Bytes::from_base(64 * lines), .outstanding = lines, .accesses = 1, .warm_up = 0};
      const AccessCost cost = link->cost(Direction::read, probe.size, probe.size);
      Duration longest{};
      for (const auto& charge : cost.charges) {
        longest = std::max(longest, charge.busy / link->channels()[charge.channel].capacity);
      }
      const double flow = to_seconds(longest + cost.latency);
      EXPECT_NEAR(to_seconds(run_cxl_probe(c, probe).elapsed) / flow, 1, 0.02)
          << flit << ' ' << lines;
    }
  }
}

}  // namespace
}  // namespace tiersim::cxl_probe_test
