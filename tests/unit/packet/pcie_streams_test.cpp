// Operations on a PCI Express link at packet level. Gen5 x16 with framing as shipped unless a test
// says otherwise: 63 GB/s, MPS 256 B, MRRS 512 B, 10 ns of flight.
#include "hwmodels/packet/pcie/pcie_streams.hpp"

#include <gtest/gtest.h>

#include "hwmodels/link/pcie.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "sim/core/engine.hpp"
#include "tests/unit/packet/link_streams_support.hpp"

namespace tiersim::pcie_streams_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::Ends;
using testing::rate;
using testing::reads;
using testing::writes;

PciePacketConfig gen5() {
  PciePacketConfig c;
  c.raw.value = Bandwidth::from_base(63'015'000'000);
  c.flight.value = 10ns;
  c.requester.tags.value = 768;
  c.host.read_latency.value = 1150ns;
  c.host.write_latency.value = 575ns;
  return c;
}
// 1 B/ns and nothing between packets.
PciePacketConfig plain() {
  PciePacketConfig c;
  c.raw.value = 1_GBps;
  c.framing.link_packet.value = 0_B;
  c.framing.skip.value = 0_B;
  c.flight.value = 10ns;
  c.host.read_latency.value = 100ns;
  c.host.write_latency.value = 40ns;
  c.requester.latency.value = 7ns;
  return c;
}

void expect_nothing_left(const PcieStreams& link) {
  EXPECT_EQ(link.open(), 0U);
  for (const auto& channel : link.fabric().channels()) {
    EXPECT_EQ(channel->credits_held(), 0);
    EXPECT_EQ(channel->entered(), channel->delivered());
  }
}

Duration alone(const PciePacketConfig& config, const PacketWork& work) {
  Engine engine;
  PcieStreams link(engine, config);
  Ends ends;
  link.start(work, ends, 3);
  EXPECT_EQ(ends.times[3], 0);
  engine.run();
  EXPECT_EQ(ends.times[3], 1);
  expect_nothing_left(link);
  return ends.of(3);
}

double probed(const PciePacketConfig& config, Bytes size, double read_share) {
  return run_pcie_probe(
             config,
             {.size = size, .read_share = read_share, .outstanding = 1024, .transfers = 20'000})
             .bandwidth /
         Bandwidth::from_base(1);
}

// 16 MB take 250 us or more, of which the first answer takes 1.2 at most: .5 %.
TEST(PcieStreams, AnOperationAloneReachesTheRateOfTheProbe) {
  const PciePacketConfig config = gen5();
  for (const Bytes run : {256_B, 512_B, 4096_B}) {
    const Bytes payload = run * (16'000'000 / run.in_base());
    EXPECT_NEAR(rate(payload, alone(config, reads(payload, run))) / probed(config, run, 1), 1, 0.01)
        << run.in_base();
    EXPECT_NEAR(rate(payload, alone(config, writes(payload, run))) / probed(config, run, 0), 1,
                0.01)
        << run.in_base();
  }
}

TEST(PcieStreams, LongRunsAreCutWithoutLoss) {
  const PciePacketConfig config = gen5();
  EXPECT_EQ(alone(config, reads(16_MiB, 16_MiB)), alone(config, reads(16_MiB, 4_KiB)));
  // 10 000 B: two pages and 1808 B, so 16 + 16 + 8 completions of up to 256 B each, and a header
  // of 20 B for each; twice. Requests of 24 B, the host, two flights, 7 ns at the end.
  EXPECT_EQ(alone(plain(), reads(20'000_B, 10'000_B)),
            24ns + 100ns + (20'000 + 80 * 20) * 1ns + 20ns + 7ns);
}

TEST(PcieStreams, OneReadTakesTheSumOfItsParts) {
  EXPECT_EQ(alone(plain(), reads(64_B, 64_B)), 24ns + 100ns + 84ns + 20ns + 7ns);
  EXPECT_EQ(unloaded_read(plain()), 127ns);
  EXPECT_EQ(alone(plain(), reads(64_B, 64_B, {}, 300ns)), 535ns);
}

// Behind the link it takes `beyond` more, after the root complex has accepted it.
TEST(PcieStreams, OneWriteTakesTheSumOfItsParts) {
  EXPECT_EQ(alone(plain(), writes(64_B, 64_B)), 88ns + 10ns + 40ns + 7ns);
  EXPECT_EQ(alone(plain(), writes(64_B, 64_B, {}, 300ns)), 445ns);
}

// 32 tags of 512 B each, 1.17 us and 5 us away: each tag is used again when its answer is there.
TEST(PcieStreams, TagsAreHeldForWhatLiesBeyond) {
  PciePacketConfig config = gen5();
  config.requester.tags.value = 32;
  const double trip = to_seconds(alone(config, reads(512_B, 512_B, {}, 5us)));
  const Bytes payload = 2_MiB;
  const double limit = 32 * 512 / trip;
  ASSERT_LT(limit, 3e9);
  EXPECT_NEAR(rate(payload, alone(config, reads(payload, 512_B, {}, 5us))) / limit, 1, 0.01);
  EXPECT_NEAR(rate(payload, alone(config, reads(payload, payload, {}, 5us))) / limit, 1, 0.01);
  // A posted write holds none.
  EXPECT_NEAR(to_seconds(alone(config, writes(payload, 512_B, {}, 5us)) -
                         alone(config, writes(payload, 512_B))) *
                  1e6,
              5, 0.001);
}

// With enough tags a long path costs its time once, since the bytes in flight grow with it.
TEST(PcieStreams, ALongWayBeyondLeavesTheRate) {
  PciePacketConfig config = gen5();
  config.requester.tags.value = 8192;
  const Duration longer =
      alone(config, reads(16_MiB, 4_KiB, {}, 20us)) - alone(config, reads(16_MiB, 4_KiB));
  EXPECT_NEAR(to_seconds(longer) * 1e6, 20, 1);
}

// 768 tags of 32 B at 1.6 us: 15 GB/s, where the wire would give 21.
TEST(PcieStreams, AGatherOfSectorsIsLimitedByTags) {
  const PciePacketConfig config = gen5();
  const double trip = to_seconds(alone(config, reads(32_B, 32_B, {}, 430ns)));
  const Bytes payload = 4_MiB;
  EXPECT_NEAR(rate(payload, alone(config, reads(payload, 32_B, {}, 430ns))) / (768 * 32 / trip), 1,
              0.02);
}

TEST(PcieStreams, RequestsComeNoFasterThanTheRestOfTheOperation) {
  const PciePacketConfig config = gen5();
  ASSERT_LT(alone(config, reads(1_MiB, 1_MiB)), 25us);
  // The last of 256 pieces is asked for at 255 / 256 of it; 1.17 us and its bytes later it is
  // there.
  const Duration slow = alone(config, reads(1_MiB, 1_MiB, 256us));
  EXPECT_GT(slow, 255us + 1170ns);
  EXPECT_LT(slow, 255us + 1300ns);
  const Duration uneven = alone(config, writes(1_MiB, 768_B, 256us));
  EXPECT_NEAR(to_seconds(uneven) * 1e6, 256, 1);
}

// 4 MiB at 10 GB/s, and the way once: reads, writes, or half of each.
TEST(PcieStreams, AMemoryWithARateIsShared) {
  PciePacketConfig config = gen5();
  config.host.memory_rate = {.value = 10_GBps};
  const double expected = 4.0 * 1024 * 1024 / 10e9;
  const double way = 1.3e-6;
  EXPECT_NEAR(to_seconds(alone(config, reads(4_MiB, 4_KiB))), expected + way, way);
  EXPECT_NEAR(to_seconds(alone(config, writes(4_MiB, 4_KiB))), expected + way, way);
  const PacketWork both{
      .accesses = {{Direction::read, 2_MiB, 4_KiB}, {Direction::write, 2_MiB, 4_KiB}}};
  EXPECT_NEAR(to_seconds(alone(config, both)), expected + 2 * way, 2 * way);
}

TEST(PcieStreams, TwoAtATimeShareTheLink) {
  Engine engine;
  PcieStreams link(engine, gen5());
  Ends ends;
  link.start(reads(8_MiB, 4_KiB), ends, 0);
  link.start(reads(8_MiB, 8_MiB), ends, 1);
  engine.run();
  const Duration one = alone(gen5(), reads(8_MiB, 8_MiB));
  for (const std::size_t tag : {0U, 1U})
    EXPECT_NEAR(to_seconds(ends.of(tag)) / to_seconds(one), 2.0, 0.04) << tag;
  expect_nothing_left(link);
}

// A trickle leaves the link to others: 1 MiB in 400 us is a twentieth of its rate.
TEST(PcieStreams, ALaterOneIsSlowedByWhatTheOtherTakes) {
  Engine engine;
  PcieStreams link(engine, gen5());
  Ends ends;
  link.start(reads(1_MiB, 1_MiB, 400us), ends, 0);
  engine.call_at(SimTime(100us + Duration(77)), [&] { link.start(reads(4_MiB, 4_KiB), ends, 1); });
  engine.run();
  const double beside = to_seconds(ends.of(1) - 100us);
  EXPECT_NEAR(beside / to_seconds(alone(gen5(), reads(4_MiB, 4_KiB))), 1.05, 0.03);
  EXPECT_NEAR(to_seconds(ends.of(0)) * 1e6, 400, 2);
}

// A copy from there to there: answers come one way while data go the other. Requests of 24 B for
// 512 B are all that the reads take of the writes' direction.
TEST(PcieStreams, ReadsAndWritesUseBothDirections) {
  PciePacketConfig config = gen5();
  config.relaxed_ordering = true;
  const PacketWork both{
      .accesses = {{Direction::read, 8_MiB, 4_KiB}, {Direction::write, 8_MiB, 4_KiB}}};
  const double one = to_seconds(alone(config, writes(8_MiB, 4_KiB)));
  EXPECT_NEAR(to_seconds(alone(config, both)) / one, 1 + 24.0 / (2 * 280), 0.02);
}

// Neither half runs ahead: a tenth as many reads as writes are spread over all of them.
TEST(PcieStreams, AccessesOfAnOperationEndTogether) {
  const PacketWork both{
      .accesses = {{Direction::read, 800_KiB, 4_KiB}, {Direction::write, 8_MiB, 4_KiB}}};
  Engine engine;
  PcieStreams link(engine, gen5());
  Ends ends;
  link.start(both, ends, 0);
  // A third of it; 20 pieces of 200 are asked for ahead, and each 256 B have a header of 20.
  engine.run_until(SimTime(50us));
  EXPECT_NEAR(static_cast<double>(link.fabric().root_down().wire().sent().in_base()) / 800e3, 0.33,
              0.1);
  engine.run();
  EXPECT_NEAR(to_seconds(ends.of(0)) / to_seconds(alone(gen5(), writes(8_MiB, 4_KiB))), 1, 0.02);
}

TEST(PcieStreams, CreditsComeBack) {
  PciePacketConfig config = gen5();
  config.credits.posted_headers = config.credits.read_headers = {.value = 32};
  config.credits.posted_data = {.value = 512};
  Engine engine;
  PcieStreams link(engine, config);
  Ends ends;
  for (std::uint64_t tag = 0; tag < 8; ++tag) {
    const Duration spread = tag % 2 == 0 ? Duration(0) : 20us;
    link.start(
        {.accesses = {{Direction::read, 100'000_B, 3000_B}, {Direction::write, 50'001_B, 7_B}},
         .spread = spread,
         .beyond = 100ns * static_cast<std::int64_t>(tag)},
        ends, tag);
  }
  engine.run();
  for (std::size_t tag = 0; tag < 8; ++tag) EXPECT_EQ(ends.times[tag], 1) << tag;
  expect_nothing_left(link);
  EXPECT_GT(link.fabric().channels()[0]->credits_issued(), 8 * 50'001 / 7);
}

TEST(PcieStreams, TheSameAgainIsTheSame) {
  EXPECT_EQ(alone(gen5(), reads(1_MiB, 96_B, 30us, 200ns)),
            alone(gen5(), reads(1_MiB, 96_B, 30us, 200ns)));
}

// The flow level's latency and its bytes on the wire: within 2 % from 64 packets on, and for one by
// its header and its completion's on the way, each some ns.
TEST(PcieStreams, AloneTheFlowLevelSaysTheSame) {
  const PciePacketConfig config = gen5();
  PcieConfig flow;
  flow.raw = config.raw;
  flow.link_efficiency.value = 0.9022;
  flow.max_payload = config.max_payload;
  flow.max_read_request = config.max_read_request;
  flow.latency.value = 1170ns;
  const auto link = make_device(flow);
  for (const Direction direction : {Direction::read, Direction::write}) {
    for (const std::int64_t packets : {1, 64, 256, 4096}) {
      const Bytes size = 256_B * packets;
      const AccessCost cost = link->cost(direction, size, size);
      Duration expected{};
      for (const Charge& charge : cost.charges)
        expected = std::max(expected, charge.busy / link->channels()[charge.channel].capacity);
      expected += cost.latency;
      const Duration time = alone(config, testing::one(direction, size, size));
      EXPECT_NEAR(to_seconds(time) / to_seconds(expected), 1, 0.02) << packets;
      if (packets == 1) {
        EXPECT_NEAR(to_seconds(time - expected) * 1e9, 0, 10);
      }
    }
  }
}

}  // namespace
}  // namespace tiersim::pcie_streams_test
