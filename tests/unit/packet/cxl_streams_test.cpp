// Operations on CXL.mem links at packet level. Gen5 x8 as shipped, 32 GB/s, with more lines in
// flight than any limit needs, unless a test says otherwise.
#include "hwmodels/packet/cxl/cxl_streams.hpp"

#include <gtest/gtest.h>

#include "hwmodels/link/cxl.hpp"
#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "sim/core/engine.hpp"
#include "tests/unit/packet/link_streams_support.hpp"

namespace tiersim::cxl_streams_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::Ends;
using testing::rate;
using testing::reads;
using testing::writes;

CxlPacketConfig gen5() {
  CxlPacketConfig c;
  c.raw.value = 32_GBps;
  c.flight.value = 15ns;
  c.host.latency.value = 97ns;
  c.device.latency.value = 20ns;
  return c;
}
CxlPacketConfig unlimited() {
  CxlPacketConfig c = gen5();
  c.host.outstanding.value = c.device.outstanding.value = 4096;
  c.credits.requests.value = c.credits.writes.value = c.credits.responses.value = 4096;
  return c;
}
// Time of a flit: 68 B at 128/130 of 32 GB/s.
constexpr double kFlit = 68 / (32.0 * 128 / 130);

void expect_nothing_left(const CxlStreams& link) {
  EXPECT_EQ(link.open(), 0U);
  for (const auto& fabric : link.fabrics())
    for (const auto& channel : fabric->channels()) {
      EXPECT_EQ(channel->entered(), channel->delivered());
      for (std::size_t c = 0; c < kCxlClasses; ++c)
        EXPECT_EQ(channel->credits(static_cast<CxlClass>(c)).held(), 0);
    }
}

Duration alone(const CxlPacketConfig& config, const PacketWork& work, std::size_t ports = 1) {
  Engine engine;
  CxlStreams link(engine, config, ports, 1);
  Ends ends;
  link.start(work, ends, 3);
  EXPECT_EQ(ends.times[3], 0);
  engine.run();
  EXPECT_EQ(ends.times[3], 1);
  expect_nothing_left(link);
  return ends.of(3);
}

double in_ns(Duration time) {
  return to_seconds(time) * 1e9;
}

// 2 MB take 75 us or more, of which the first answer is .15: .2 %.
TEST(CxlStreams, AnOperationAloneReachesTheRateOfTheProbe) {
  for (const CxlPacketConfig& config : {gen5(), unlimited()}) {
    for (const Bytes run : {64_B, 256_B}) {
      for (const double share : {1.0, 0.0}) {
        const CxlProbe probe{.size = run,
                             .read_share = share,
                             .outstanding = 1024,
                             .accesses = 2'000'000 / run.in_base()};
        const double expected = run_cxl_probe(config, probe).bandwidth / Bandwidth::from_base(1);
        const Bytes payload = run * (2'000'000 / run.in_base());
        const Direction direction = share > 0 ? Direction::read : Direction::write;
        const Duration time = alone(config, testing::one(direction, payload, run));
        EXPECT_NEAR(rate(payload, time) / expected, 1, 0.01) << run.in_base() << ' ' << share;
      }
    }
  }
}

// A request's flit and two of a line with its header: 20.3 ns, 2.16 ns each.
TEST(CxlStreams, OneLineTakesTheSumOfItsParts) {
  EXPECT_NEAR(in_ns(alone(gen5(), reads(64_B, 64_B))), 97 + 20 + 30 + 3 * kFlit, 0.005);
  EXPECT_NEAR(in_ns(unloaded_line(gen5())), 97 + 20 + 30 + 3 * kFlit, 0.005);
  EXPECT_NEAR(in_ns(alone(gen5(), reads(1_B, 1_B, {}, 130ns))), 277 + 3 * kFlit, 0.005);
  CxlPacketConfig slow = gen5();
  slow.device.memory_latency.value = 50ns;
  EXPECT_NEAR(in_ns(alone(slow, reads(64_B, 64_B))), 197 + 3 * kFlit, 0.005);
}

// Half of the host's and the controller's latency, one flight, two flits: no answer.
TEST(CxlStreams, OneWriteEndsInItsExpander) {
  EXPECT_NEAR(in_ns(alone(gen5(), writes(64_B, 64_B))), 48.5 + 10 + 15 + 2 * kFlit, 0.005);
  EXPECT_NEAR(in_ns(alone(gen5(), writes(64_B, 64_B, {}, 130ns))), 203.5 + 2 * kFlit, 0.005);
}

// 16 lines of 64 B in flight at the host.
TEST(CxlStreams, LinesInFlightAreHeldForWhatLiesBeyond) {
  CxlPacketConfig config = unlimited();
  config.host.outstanding.value = 16;
  const double trip = to_seconds(alone(config, reads(64_B, 64_B, {}, 2us)));
  const double limit = 16 * 64 / trip;
  for (const Bytes run : {64_B, 4096_B})
    EXPECT_NEAR(rate(1_MiB, alone(config, reads(1_MiB, run, {}, 2us))) / limit, 1, 0.01);
  // A write is answered before that.
  EXPECT_NEAR(
      in_ns(alone(config, writes(64_KiB, 64_B, {}, 2us)) - alone(config, writes(64_KiB, 64_B))),
      2000, 0.001);
}

// An expander works on 48 lines, for 150 ns each and the flits of one: its limit comes before the
// host's 128.
TEST(CxlStreams, AnExpanderHoldsLinesWhileTheyAreRead) {
  const double limit = 48 * 64 / (150 + kFlit) * 1e9;
  EXPECT_NEAR(rate(2_MiB, alone(gen5(), reads(2_MiB, 4_KiB, {}, 130ns))) / limit, 1, 0.03);
}

TEST(CxlStreams, PortsWorkSideBySide) {
  const double one = rate(1_MiB, alone(unlimited(), reads(1_MiB, 1_MiB)));
  const double eight = rate(8_MiB, alone(unlimited(), reads(8_MiB, 8_MiB), 8));
  EXPECT_NEAR(eight / one, 8, 0.08);
  // Rows of 256 B lie in one port each, at random: the fullest of eight has more than an eighth.
  const double rows = rate(8_MiB, alone(unlimited(), reads(8_MiB, 256_B), 8));
  EXPECT_LT(rows / one, 8);
  EXPECT_GT(rows / one, 7);
}

TEST(CxlStreams, ALongWayBeyondLeavesTheRate) {
  const Duration longer =
      alone(unlimited(), reads(2_MiB, 4_KiB, {}, 5us)) - alone(unlimited(), reads(2_MiB, 4_KiB));
  EXPECT_NEAR(to_seconds(longer) * 1e6, 5, 0.25);
}

// Its own link to the switch does not limit here.
TEST(CxlStreams, OneGpuReadsFromAllExpandersOfASwitch) {
  CxlPacketConfig pool = unlimited();
  pool.pool_switch.emplace().latency.value = 45ns;
  const double one = rate(1_MiB, alone(unlimited(), reads(1_MiB, 1_MiB)));
  EXPECT_NEAR(rate(4_MiB, alone(pool, reads(4_MiB, 4_MiB), 4)) / one, 4, 0.08);
}

TEST(CxlStreams, RequestsComeNoFasterThanTheRestOfTheOperation) {
  ASSERT_LT(alone(unlimited(), reads(256_KiB, 4_KiB)), 12us);
  const Duration slow = alone(unlimited(), reads(256_KiB, 4_KiB, 102'400ns));
  // The last of 1024 accesses begins 100 ns before the end: four requests are a flit, and four
  // lines of 4.5 slots are five.
  EXPECT_NEAR(in_ns(slow), 102'300 + 147 + 6 * kFlit, 0.01);
}

// 1 MiB at 10 GB/s, and one way: reads, writes, or half of each.
TEST(CxlStreams, AMemoryWithARateIsShared) {
  CxlPacketConfig config = unlimited();
  config.device.memory_rate = {.value = 10_GBps};
  config.device.memory_latency.value = 50ns;
  const double expected = 1024.0 * 1024 / 10e9;
  const double way = 0.25e-6;
  EXPECT_NEAR(to_seconds(alone(config, reads(1_MiB, 4_KiB))), expected + way, way);
  EXPECT_NEAR(to_seconds(alone(config, writes(1_MiB, 4_KiB))), expected + way, way);
  const PacketWork both{
      .accesses = {{Direction::read, 512_KiB, 4_KiB}, {Direction::write, 512_KiB, 4_KiB}}};
  EXPECT_NEAR(to_seconds(alone(config, both)), expected + way, way);
}

TEST(CxlStreams, TwoAtATimeShareThePort) {
  Engine engine;
  CxlStreams link(engine, gen5(), 1, 2);
  Ends ends;
  PacketWork second = reads(2_MiB, 64_B);
  second.from = 1;
  link.start(reads(2_MiB, 2_MiB), ends, 0);
  link.start(second, ends, 1);
  engine.run();
  const double one = to_seconds(alone(gen5(), reads(2_MiB, 2_MiB)));
  // The same bytes in flight of each.
  for (const std::size_t tag : {0U, 1U}) EXPECT_NEAR(to_seconds(ends.of(tag)) / one, 2, 0.04);
  expect_nothing_left(link);
}

// Behind a switch each GPU has a host port: at one expander they share its link, at two expanders
// two of them have twice as much, which is more than one may have in flight.
TEST(CxlStreams, SharersOfASwitchAreHosts) {
  CxlPacketConfig pool = gen5();
  pool.pool_switch.emplace().latency.value = 45ns;
  pool.host.outstanding.value = 64;
  const auto both = [&](std::size_t ports) {
    Engine engine;
    CxlStreams link(engine, pool, ports, 2);
    Ends ends;
    for (const std::size_t from : {0U, 1U}) {
      PacketWork work = reads(1_MiB, 256_B);
      work.from = from;
      link.start(work, ends, from);
    }
    engine.run();
    expect_nothing_left(link);
    EXPECT_NEAR(to_seconds(ends.of(0)) / to_seconds(ends.of(1)), 1, 0.02);
    return to_seconds(ends.of(0));
  };
  // 64 lines in 147 + 90 + 30 ns and six flits: 14.6 GB/s each, of the 26.3 of an expander's link.
  const double trip = to_seconds(alone(pool, reads(64_B, 64_B)));
  const double limited = 1024 * 1024 / (64 * 64 / trip);
  EXPECT_NEAR(to_seconds(alone(pool, reads(1_MiB, 256_B))) / limited, 1, 0.05);
  EXPECT_NEAR(both(2) / limited, 1, 0.1);
  const double link = to_seconds(alone(unlimited(), reads(2_MiB, 2_MiB)));
  EXPECT_NEAR(both(1) / link, 1, 0.03);
}

// 4.5 slots up for a line that is read, 5 down for one that is written, and 1 and .5 the other way.
TEST(CxlStreams, ReadsAndWritesUseBothDirections) {
  const PacketWork both{
      .accesses = {{Direction::read, 2_MiB, 4_KiB}, {Direction::write, 2_MiB, 4_KiB}}};
  const double write = to_seconds(alone(unlimited(), writes(2_MiB, 4_KiB)));
  EXPECT_NEAR(to_seconds(alone(unlimited(), both)) / write, (5 + 1) / 5.0, 0.02);
}

TEST(CxlStreams, CreditsComeBack) {
  Engine engine;
  CxlStreams link(engine, gen5(), 3, 4);
  Ends ends;
  for (std::uint64_t tag = 0; tag < 8; ++tag)
    link.start(
        {.accesses = {{Direction::read, 100'000_B, 3000_B}, {Direction::write, 9'001_B, 7_B}},
         .spread = tag % 2 == 0 ? Duration(0) : 20us,
         .beyond = 100ns * static_cast<std::int64_t>(tag),
         .from = tag % 4},
        ends, tag);
  engine.run();
  std::int64_t lines = 0;
  for (const auto& fabric : link.fabrics()) lines += fabric->up().delivered();
  // Runs of 3000 B are 47 lines, the last of 1000 B is 16; runs of 7 B are a line each.
  EXPECT_EQ(lines, 8 * (33 * 47 + 16 + 1286));
  for (std::size_t tag = 0; tag < 8; ++tag) EXPECT_EQ(ends.times[tag], 1) << tag;
  expect_nothing_left(link);
}

TEST(CxlStreams, TheSameAgainIsTheSame) {
  const PacketWork work = reads(1_MiB, 96_B, 30us, 200ns);
  EXPECT_EQ(alone(gen5(), work, 8), alone(gen5(), work, 8));
}

// Within 2 % from 64 lines on; for one by less than the three flits of a line, which is what the
// link states its latency with.
TEST(CxlStreams, AloneTheFlowLevelSaysTheSame) {
  const CxlPacketConfig config = unlimited();
  CxlConfig flow;
  flow.raw = config.raw;
  flow.ports = Sourced<std::int64_t>{.value = 1};
  flow.latency.value = 154ns;
  const auto link = make_device(flow);
  for (const std::int64_t lines : {1, 64, 256, 4096}) {
    const Bytes size = 64_B * lines;
    const AccessCost cost = link->cost(Direction::read, size, size);
    const Duration expected =
        cost.latency + cost.charges[0].busy / link->channels()[cost.charges[0].channel].capacity;
    const Duration time = alone(config, reads(size, size));
    EXPECT_NEAR(in_ns(time) / in_ns(expected), 1, lines >= 64 ? 0.02 : 0.03) << lines;
    if (lines == 1) {
      EXPECT_NEAR(in_ns(time - expected), 0, 3 * kFlit);
    }
  }
}

}  // namespace
}  // namespace tiersim::cxl_streams_test
