#include "hwmodels/loaded_latency.hpp"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/compute/sm_loads.hpp"
#include "hwmodels/link/cxl.hpp"
#include "hwmodels/memory/dram.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::loaded_latency_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LatencyPoint point(double load, Duration added) {
  return {.load = load, .added = {.value = added}};
}

LoadedLatency family(std::vector<LatencyCurve> curves, Bandwidth whole) {
  return LoadedLatency(LatencyFamily{std::move(curves)}.lines(), whole);
}

// Writes alone end at .5 of 100 GB/s, reads alone at 1.
LoadedLatency two_curves() {
  return family({{.read_share = 0, .points = {point(0.25, 100ns), point(0.5, 300ns)}},
                 {.read_share = 1, .points = {point(0.5, 20ns), point(1, 60ns)}}},
                100_GBps);
}

TEST(LoadedLatency, LinesJoinThePointsFromNothingOn) {
  const LoadedLatency curves = two_curves();
  EXPECT_EQ(curves.at({}, 1, 64_B), 0ns);
  EXPECT_EQ(curves.at(25_GBps, 1, 64_B), 10ns);
  EXPECT_EQ(curves.at(50_GBps, 1, 64_B), 20ns);
  EXPECT_EQ(curves.at(75_GBps, 1, 64_B), 40ns);
  EXPECT_EQ(curves.at(25_GBps, 0, 64_B), 100ns);
}

TEST(LoadedLatency, BeyondItsEndsTheLastValueHolds) {
  const LoadedLatency curves = two_curves();
  EXPECT_EQ(curves.at(1000_GBps, 1, 64_B), 60ns);
  EXPECT_EQ(curves.at(75_GBps, 0, 64_B), 300ns);
  const LoadedLatency middle = family({{.read_share = 0.5, .points = {point(1, 10ns)}}}, 100_GBps);
  EXPECT_EQ(middle.at(50_GBps, 0, 64_B), 5ns);
  EXPECT_EQ(middle.at(50_GBps, 1, 64_B), 5ns);
}

// Half reads: the end lies at .75, and 37.5 GB/s are half of it: half way between 100 ns (half of
// .5) and 20 ns (half of 1).
TEST(LoadedLatency, AMixLiesBetweenItsNeighboursAtTheSameShareOfTheirEnds) {
  const LoadedLatency curves = two_curves();
  EXPECT_EQ(curves.at(Bandwidth::from_base(37'500'000'000), 0.5, 64_B), 60ns);
  EXPECT_EQ(curves.at(75_GBps, 0.5, 64_B), 180ns);
  EXPECT_EQ(curves.at(90_GBps, 0.5, 64_B), 180ns);
}

// Runs of 64 B end at .5, those of 256 B at 1. 128 B lie two thirds of the way from 64 B to 256 B
// by 1 / run: the end is .5 + .5 * 2 / 3.
TEST(LoadedLatency, ARunLiesBetweenItsNeighboursByTheRowsOfAByte) {
  const LoadedLatency curves({{.run = 256_B, .read_share = 1, .loads = {1}, .added_ps = {30'000}},
                              {.run = 64_B, .read_share = 1, .loads = {0.5}, .added_ps = {90'000}}},
                             120_GBps);
  EXPECT_EQ(curves.at(100_GBps, 1, 128_B), 50ns);
  EXPECT_EQ(curves.at(50_GBps, 1, 128_B), 25ns);
  EXPECT_EQ(curves.at(60_GBps, 1, 64_B), 90ns);
  EXPECT_EQ(curves.at(60_GBps, 1, 8_B), 90ns);
  EXPECT_EQ(curves.at(120_GBps, 1, 1_MiB), 30ns);
}

TEST(LoadedLatency, NeverFallsWithTheRateAtAnyReadShareAndRun) {
  const LoadedLatency curves(
      {{.run = 32_B, .read_share = 0.2, .loads = {0.3, 0.6}, .added_ps = {5'000, 400'000}},
       {.run = 32_B, .read_share = 0.7, .loads = {0.1, 0.9}, .added_ps = {1'000, 1'000}},
       {.run = 4_KiB, .read_share = 1, .loads = {0.5, 0.7, 1}, .added_ps = {0, 9'000, 900'000}}},
      1000_GBps);
  for (const Bytes run : {32_B, 100_B, 1_KiB, 8_KiB})
    for (int share = 0; share <= 10; ++share) {
      Duration last{};
      for (int i = 0; i <= 5000; ++i) {
        const Duration now = curves.at(Bandwidth::from_base(250'000'000) * i, 0.1 * share, run);
        ASSERT_GE(now, last) << share << ' ' << i;
        last = now;
      }
      EXPECT_GT(last, 0ns);
    }
}

// One curve of reads in streams of the whole peak, to a latency at the end.
DramQueueing straight_to(Duration added) {
  return {.packets = {},
          .measured = DramLatencyTable{
              .scale = {.value = 1}, .loads = {1}, .curves = {{.run = 4_KiB, .added = {added}}}}};
}

DramConfig h100_64() {
  DramConfig c;
  c.capacity.value = 64_GB;
  c.peak.value = 1631_GBps;
  c.pseudo_channels = Sourced<std::int64_t>{.value = 64};
  c.atom.value = 32_B;
  c.interleave.value = 256_B;
  c.read_efficiency.value = 0.92;
  c.write_efficiency.value = 0.873;
  c.latency.value = 365ns;
  c.queueing = DramQueueing{
      .packets = {},
      .measured = DramLatencyTable{.scale = {.value = 1},
                                   .loads = {0.5, 0.736, 0.941, 1},
                                   .curves = {{.run = 4_KiB,
                                               .read_share = 0,
                                               .reaches = 0.669,
                                               .added = {35ns, 77ns, 235ns, 452ns}},
                                              {.run = 4_KiB,
                                               .read_share = 1,
                                               .reaches = 0.934,
                                               .added = {47ns, 105ns, 338ns, 1049ns}}}}};
  return c;
}

// Mess benchmark, H100-64GB: 703 ns at 1433.68 GB/s of reads, and 817 ns where writes alone move
// 1090.86 GB/s; band 10 %. At that rate reads alone wait less.
TEST(LoadedLatency, WritesOfTheH100WaitLongerThanReadsAtTheSameRate) {
  const auto memory = make_device(h100_64());
  const auto ns = [&](double rate, double share) {
    const auto at = Bandwidth::from_base(static_cast<std::int64_t>(rate * 1e9));
    return 365 + to_seconds(memory->added_latency(at, share, 4_KiB)) * 1e9;
  };
  EXPECT_NEAR(ns(1433.68, 1), 703, 70);
  EXPECT_NEAR(ns(1090.86, 0), 817, 82);
  EXPECT_NEAR(ns(1121.49, 1), 470, 47);
  EXPECT_GT(ns(1090.86, 0.5), ns(1090.86, 1));
  EXPECT_LT(ns(1090.86, 0.5), ns(1090.86, 0));
}

// A port of 32 GB/s: 50 GB/s of payload both ways are a load of 1.5625, of two ports .78125.
TEST(LoadedLatency, ALinkCountsPayloadBothWaysOverAllOfItsPorts) {
  CxlConfig c;
  c.raw.value = 32_GBps;
  c.ports = Sourced<std::int64_t>{.value = 1};
  EXPECT_EQ(make_device(c)->added_latency(50_GBps, 0.5, 64_B), 0ns);
  c.queueing = LatencyFamily{{{.read_share = 0.5, .points = {point(1.5625, 100ns)}}}};
  EXPECT_EQ(make_device(c)->added_latency(50_GBps, 0.5, 64_B), 100ns);
  c.ports = Sourced<std::int64_t>{.value = 2};
  EXPECT_EQ(make_device(c)->added_latency(50_GBps, 0.5, 64_B), 50ns);
}

// 1 us unloaded, 100 ns in the memory and 200 ns on the link at 10 GB/s of reads.
TEST(LoadedLatency, TheRoundTripHasTheQueuesOfLinksAndMemory) {
  CxlConfig port;
  port.raw.value = 10_GBps;
  port.ports = Sourced<std::int64_t>{.value = 1};
  port.queueing = LatencyFamily{{{.read_share = 1, .points = {point(1, 200ns)}}}};
  DramConfig dram = h100_64();
  dram.peak.value = 10_GBps;
  dram.queueing = straight_to(200ns);
  const auto link = make_device(port);
  const auto memory = make_device(dram);
  const std::array<const Link*, 1> links{link.get()};
  const RoundTrip trip{.unloaded = 1us, .memory = memory.get(), .links = links};
  EXPECT_EQ(trip.at({}, 64_B), 1us);
  EXPECT_EQ(trip.at(5_GBps, 64_B), 1us + 100ns + 100ns);
}

// 60 KB in flight over 1 us unloaded: at 50 GB/s the memory of 100 GB/s adds half of 200 ns, and
// the link as much, so that 50 GB/s * 1.2 us are 60 KB. Unloaded it would be 60 GB/s.
TEST(LoadedLatency, AWindowFindsTheRateThatItsLoadedWayAllows) {
  CxlConfig port;
  port.raw.value = 100_GBps;
  port.ports = Sourced<std::int64_t>{.value = 1};
  port.queueing =
      LatencyFamily{{{.read_share = 1, .points = {point(0.5, 100ns), point(1, 300ns)}}}};
  DramConfig dram = h100_64();
  dram.peak.value = 100_GBps;
  dram.queueing = straight_to(200ns);
  SmLoadsConfig loads;
  loads.to_gpu.value = loads.from_gpu.value = 1000_GBps;
  loads.in_flight.value = 60'000_B;
  const auto link = make_device(port);
  const auto memory = make_device(dram);
  const std::array<const Link*, 1> links{link.get()};
  const RoundTrip trip{.unloaded = 1us, .memory = memory.get(), .links = links};
  const AccessCost cost = make_device(loads)->cost(Direction::read, 1_GB, 256_B, trip);
  // Latencies are in steps of 2^-20 of the load, and whole picoseconds of 1.2 us.
  EXPECT_NEAR(1 / to_seconds(cost.min_duration), 50, 50e-6);
}

// A sequence's block with 4096 B on their way, of 64 KiB that the engine could have: 100 trips.
TEST(SmLoads, AnAccessMayHaveFewerBytesOnTheirWayThanTheEngine) {
  SmLoadsConfig loads;
  loads.to_gpu.value = loads.from_gpu.value = 1000_GBps;
  loads.in_flight.value = 65'536_B;
  DramConfig dram = h100_64();
  dram.queueing = {};
  const auto memory = make_device(dram);
  RoundTrip path{.unloaded = 1us, .memory = memory.get()};
  const auto sms = make_device(loads);
  const auto time = [&] { return sms->cost(Direction::read, 409'600_B, 256_B, path).min_duration; };
  const Duration own = time();
  path.window = 4096_B;
  EXPECT_NEAR(to_seconds(time()), 100e-6, 1e-9);
  path.window = 1_MiB;  // more than the engine has
  EXPECT_EQ(time(), own);
}

template <class Config>
std::string mistakes_of(const std::string& text) {
  Diagnostics diagnostics;
  const Document document =
      load_text("schema: tiersim.queueing/v1\n" + text, "queueing.yaml", {}, diagnostics);
  read<Config>(document, "queueing", diagnostics);
  return diagnostics.text();
}

TEST(LoadedLatency, ACurveOfALinkIsRisingPoints) {
  EXPECT_EQ(mistakes_of<LatencyFamily>("by_read_share:\n"
                                       "  - read_share: 0\n"
                                       "    points: [{load: 0.5, added: 1 ns}]\n"
                                       "  - read_share: 1\n"
                                       "    points: [{load: 1, added: 0 ns}]\n"),
            "");
  EXPECT_THAT(mistakes_of<LatencyFamily>("by_read_share: []\n"), HasSubstr("has no curve"));
  EXPECT_THAT(mistakes_of<LatencyFamily>("by_read_share: [{read_share: 0, points: []}]\n"),
              HasSubstr("points: is empty"));
  EXPECT_THAT(
      mistakes_of<LatencyFamily>(
          "by_read_share:\n"
          "  - {read_share: 0.5, points: [{load: 0.5, added: 2 ns}, {load: 0.5, added: 1 ns}]}\n"),
      AllOf(HasSubstr("3:59: error: by_read_share.0.points.1.load: is not above that of the point"),
            HasSubstr("3:70: error: by_read_share.0.points.1.added: is below that of the point")));
  EXPECT_THAT(
      mistakes_of<LatencyFamily>("by_read_share:\n"
                                 "  - {read_share: 0.5, points: [{load: 0.5, added: 1 ns}]}\n"
                                 "  - {read_share: 0.5, points: [{load: 0.5, added: 1 ns}]}\n"),
      HasSubstr("by_read_share.1.read_share: is not above that of the curve before it"));
}

TEST(DramQueueing, AMeasuredCurveTakesThePlaceOfTheOneByPackets) {
  DramQueueing both = straight_to(50ns);
  both.packets = DramLatencyTable{.scale = {.value = 2},
                                  .loads = {0.5, 1},
                                  .curves = {{.run = 64_B, .reaches = 0.8, .added = {10ns, 20ns}},
                                             {.run = 4_KiB, .added = {1ns, 2ns}}}};
  const std::vector<LatencyLine> lines = both.lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].run, 64_B);
  EXPECT_THAT(lines[0].loads, ElementsAre(0.4, 0.8));
  EXPECT_THAT(lines[0].added_ps, ElementsAre(20'000, 40'000));
  EXPECT_EQ(lines[1].run, 4_KiB);
  EXPECT_THAT(lines[1].added_ps, ElementsAre(50'000));
}

TEST(DramQueueing, EveryMistakeOfATableIsNamed) {
  EXPECT_THAT(mistakes_of<DramQueueing>("packets: ~\n"), HasSubstr("has no table"));
  const std::string table = "packets:\n  scale: 1\n  loads: [0.5, 0.4]\n  curves:\n";
  const std::string curve = "    - {run: 64 B, read_share: 1, reaches: 0.9, added: [2 ns, 1 ns]}\n";
  const std::string found = mistakes_of<DramQueueing>(table + curve);
  EXPECT_THAT(found, HasSubstr("packets.curves.0.added.1: is below the one before it"));
  const std::string rising = "    - {run: 64 B, read_share: 1, reaches: 0.9, added: [2 ns]}\n";
  EXPECT_THAT(mistakes_of<DramQueueing>(table + rising + rising),
              AllOf(HasSubstr("packets.loads: does not end at 1"),
                    HasSubstr("packets.loads.1: is not above the load before it"),
                    HasSubstr("packets.curves.0.added: has another length than the loads"),
                    HasSubstr("packets.curves.1: has the run and read share of an earlier curve")));
}

}  // namespace
}  // namespace tiersim::loaded_latency_test
