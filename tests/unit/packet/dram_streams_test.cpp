// Operations on one DRAM at packet level. A stack of HBM3-6400 with two pseudo channels, 51.2 GB/s,
// in clocks of .625 ns (dram_support.hpp).
#include "hwmodels/packet/dram/dram_streams.hpp"

#include <gtest/gtest.h>

#include "sim/core/engine.hpp"
#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_streams_test {
namespace {

using namespace dram_test;
using namespace std::chrono_literals;
using namespace literals;

struct Ends final : EventHandler {
  std::vector<SimTime> at = std::vector<SimTime>(16);
  void on_event(Engine& engine, std::uint64_t tag) override { at[tag] = engine.now(); }
  Duration of(std::size_t tag) const { return at[tag].time_since_epoch(); }
};

PacketWork read(Bytes payload, Bytes run, Duration spread = {}) {
  return {.accesses = {{Direction::read, payload, run}}, .spread = spread};
}

Duration alone(const PacketWork& work, double share = 1, double write_limit = 0) {
  Engine engine;
  DramStreams memory(engine, hbm3(), share, write_limit);
  Ends ends;
  memory.start(work, ends, 3);
  engine.run();
  return ends.of(3);
}

double rate(Bytes payload, Duration time) {
  return static_cast<double>(payload.in_base()) / to_seconds(time);
}

double peak(const DramPacketConfig& config) {
  return static_cast<double>(channel_peak(config).in_base()) *
         static_cast<double>(DramShape(*AddressMap::make(config.address_map)).pseudo_channels);
}

// The same atoms in flight, the same pieces and streams: only the order of a few requests differs.
TEST(DramStreams, AStreamTakesWhatTheMicrobenchmarkTakes) {
  const DramPacketConfig config = hbm3();
  const DramProbe probe{.pattern = DramPattern::sequential,
                        .streams = 16,
                        .run = 4_KiB,
                        .outstanding_atoms = 4096,
                        .atoms = 8 * 32'768};
  const double expected = run_dram_probe(config, probe).achieved * peak(config);
  EXPECT_NEAR(rate(8_MiB, alone(read(8_MiB, 8_MiB))) / expected, 1.0, 0.01);
}

TEST(DramStreams, RandomRunsTakeWhatTheMicrobenchmarkTakes) {
  const DramPacketConfig config = hbm3();
  for (const Bytes run : {32_B, 64_B, 256_B, 1_KiB}) {
    const DramProbe probe{.run = run, .outstanding_atoms = 4096, .atoms = 100'000};
    const double expected = run_dram_probe(config, probe).achieved * peak(config);
    const Bytes payload = 100'000 * 32_B;
    EXPECT_NEAR(rate(payload, alone(read(payload, run))) / expected, 1.0, 0.02) << run.in_base();
  }
}

// tRP + tRCD are not needed where no row is open: tRCD + tCL + burst are 54 clocks.
TEST(DramStreams, OneAtomTakesARowAndAColumn) {
  const Duration time = alone(read(32_B, 32_B));
  const DramClocks clocks(hbm3().timings);
  EXPECT_EQ(time, Duration((clocks.rcd + clocks.cl + clocks.burst) * clocks.period_ps));
}

TEST(DramStreams, AStackTakesItsShare) {
  const Duration whole = alone(read(4_MiB, 4_MiB));
  const Duration quarter = alone(read(16_MiB, 16_MiB), 0.25);
  EXPECT_NEAR(to_seconds(quarter) / to_seconds(whole), 1.0, 0.005);
}

TEST(DramStreams, RequestsComeNoFasterThanTheRestOfTheOperation) {
  const Duration fast = alone(read(1_MiB, 1_MiB));
  ASSERT_LT(fast, 30us);
  const Duration slow = alone(read(1_MiB, 1_MiB, 200us));
  // The last of 256 pieces comes at 255 / 256 of it, and takes less than a microsecond.
  EXPECT_GT(slow, 200us * 255 / 256);
  EXPECT_LT(slow, 201us);
}

TEST(DramStreams, TwoAtATimeShareIt) {
  Engine engine;
  DramStreams memory(engine, hbm3(), 1);
  Ends ends;
  memory.start(read(4_MiB, 4_MiB), ends, 0);
  memory.start(read(4_MiB, 4_MiB), ends, 1);
  engine.run();
  const Duration one = alone(read(4_MiB, 4_MiB));
  for (const std::size_t tag : {0U, 1U})
    EXPECT_NEAR(to_seconds(ends.of(tag)) / to_seconds(one), 2.0, 0.04) << tag;
  EXPECT_EQ(memory.counts().served(), 2 * (4_MiB).in_base() / 32);
  EXPECT_EQ(memory.counts().pushed, memory.counts().served());
}

TEST(DramStreams, ALaterOneWaitsForNobodyButTheBus) {
  Engine engine;
  DramStreams memory(engine, hbm3(), 1);
  Ends ends;
  memory.start(read(1_MiB, 1_MiB, 400us), ends, 0);  // a trickle
  engine.call_at(SimTime(100us + Duration(77)),
                 [&] { memory.start(read(64_KiB, 64_KiB), ends, 1); });
  engine.run();
  const Duration beside = ends.of(1) - 100us;
  // 64 KiB are 1.3 us alone; the trickle takes 2.6 of 51.2 GB/s.
  EXPECT_NEAR(to_seconds(beside) / to_seconds(alone(read(64_KiB, 64_KiB))), 1.05, 0.1);
  EXPECT_NEAR(to_seconds(ends.of(0)) * 1e6, 400, 2);
}

// Reads and writes of one operation go on together: neither half runs ahead. The microbenchmark's
// reads and writes share rows, those of a copy do not, so it is a little slower; and slower than
// reading both by the turnarounds.
TEST(DramStreams, AccessesOfAnOperationEndTogether) {
  const PacketWork copy{
      .accesses = {{Direction::read, 4_MiB, 4_MiB}, {Direction::write, 4_MiB, 4_MiB}}};
  const DramPacketConfig config = hbm3();
  const DramProbe probe{.pattern = DramPattern::sequential,
                        .streams = 32,
                        .run = 4_KiB,
                        .read_share = 0.5,
                        .outstanding_atoms = 4096,
                        .atoms = 262'144};
  const double mixed = run_dram_probe(config, probe).achieved * peak(config);
  const double copied = rate(8_MiB, alone(copy));
  EXPECT_LT(copied, mixed);
  EXPECT_GT(copied, 0.9 * mixed);
  EXPECT_LT(copied, 0.95 * rate(8_MiB, alone(read(8_MiB, 8_MiB))));
}

// Writes come at the share of the peak that they are let through with, and the rest of their
// operation waits with them. What is left over at the end is less than a microsecond.
TEST(DramStreams, ALimitOnWritesHoldsOperationsThatWrite) {
  const DramPacketConfig config = hbm3();
  const double half = to_seconds(alone({.accesses = {{Direction::write, 8_MiB, 8_MiB}}}, 1, 0.5));
  const double expected = 8 * 1048576.0 / (0.5 * peak(config));
  EXPECT_NEAR(half, expected, 1e-6);
  const PacketWork copy{
      .accesses = {{Direction::read, 8_MiB, 8_MiB}, {Direction::write, 8_MiB, 8_MiB}}};
  EXPECT_NEAR(to_seconds(alone(copy, 1, 0.25)), 2 * expected, 1e-6);
  EXPECT_EQ(alone(read(8_MiB, 8_MiB), 1, 0.25), alone(read(8_MiB, 8_MiB)));
  // A stack that serves a quarter of the writes: four times as much in the same time.
  EXPECT_NEAR(to_seconds(alone({.accesses = {{Direction::write, 32_MiB, 32_MiB}}}, 0.25, 0.5)),
              expected, 1e-6);
}

// 32 atoms in all: less than a piece.
TEST(DramStreams, AMapMayHoldLessThanAPiece) {
  DramPacketConfig tiny = hbm3();
  tiny.address_map.pieces = {{DramField::column, 3}, {DramField::bank, 1}, {DramField::row, 1}};
  Engine engine;
  DramStreams memory(engine, tiny, 1);
  Ends ends;
  memory.start(read(64_KiB, 64_KiB), ends, 0);
  engine.run();
  EXPECT_EQ(memory.counts().served(), 2048);
  EXPECT_GT(ends.of(0), Duration{});
}

TEST(DramStreams, TheSameAgainIsTheSame) {
  EXPECT_EQ(alone(read(1_MiB, 96_B)), alone(read(1_MiB, 96_B)));
}

}  // namespace
}  // namespace tiersim::dram_streams_test
