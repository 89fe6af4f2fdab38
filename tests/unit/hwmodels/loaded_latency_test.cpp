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
using ::testing::HasSubstr;

LatencyPoint point(double load, Duration added) {
  return {.load = load, .added = {.value = added}};
}

// Writes alone end at .5 of 100 GB/s, reads alone at 1.
LoadedLatency two_curves() {
  return LoadedLatency({{.read_share = 0, .points = {point(0.25, 100ns), point(0.5, 300ns)}},
                        {.read_share = 1, .points = {point(0.5, 20ns), point(1, 60ns)}}},
                       100_GBps);
}

TEST(LoadedLatency, LinesJoinThePointsFromNothingOn) {
  const LoadedLatency family = two_curves();
  EXPECT_EQ(family.at({}, 1), 0ns);
  EXPECT_EQ(family.at(25_GBps, 1), 10ns);
  EXPECT_EQ(family.at(50_GBps, 1), 20ns);
  EXPECT_EQ(family.at(75_GBps, 1), 40ns);
  EXPECT_EQ(family.at(25_GBps, 0), 100ns);
}

TEST(LoadedLatency, BeyondItsEndsTheLastValueHolds) {
  const LoadedLatency family = two_curves();
  EXPECT_EQ(family.at(1000_GBps, 1), 60ns);
  EXPECT_EQ(family.at(75_GBps, 0), 300ns);
  const LoadedLatency middle({{.read_share = 0.5, .points = {point(1, 10ns)}}}, 100_GBps);
  EXPECT_EQ(middle.at(50_GBps, 0), 5ns);
  EXPECT_EQ(middle.at(50_GBps, 1), 5ns);
}

// Half reads: the end lies at .75, and 37.5 GB/s are half of it: half way between 100 ns (half of
// .5) and 20 ns (half of 1).
TEST(LoadedLatency, AMixLiesBetweenItsNeighboursAtTheSameShareOfTheirEnds) {
  const LoadedLatency family = two_curves();
  EXPECT_EQ(family.at(Bandwidth::from_base(37'500'000'000), 0.5), 60ns);
  EXPECT_EQ(family.at(75_GBps, 0.5), 180ns);
  EXPECT_EQ(family.at(90_GBps, 0.5), 180ns);
}

TEST(LoadedLatency, NeverFallsWithTheRateAtAnyReadShare) {
  LatencyFormula formula{
      .scale = {.value = 38ns}, .exponent = {.value = 0.65}, .saturation = {.value = 0.968}};
  const LoadedLatency family({{.read_share = 0.2, .points = {point(0.3, 5ns), point(0.6, 400ns)}},
                              {.read_share = 0.7, .formula = formula}},
                             1000_GBps);
  for (int share = 0; share <= 10; ++share) {
    Duration last{};
    for (int i = 0; i <= 5000; ++i) {
      const Duration now = family.at(Bandwidth::from_base(250'000'000) * i, 0.1 * share);
      ASSERT_GE(now, last) << share << ' ' << i;
      last = now;
    }
    EXPECT_GT(last, 0ns);
  }
}

DramConfig h100_64() {
  DramConfig c;
  c.capacity.value = 64_GB;
  c.peak.value = 1631_GBps;
  c.pseudo_channels.value = 64;
  c.atom.value = 32_B;
  c.interleave.value = 256_B;
  c.read_efficiency.value = 0.92;
  c.write_efficiency.value = 0.873;
  c.latency.value = 365ns;
  c.queueing =
      DramQueueing{.scale = {.value = 38ns},
                   .exponent = {.value = 0.65},
                   .saturation = {.value = 0.968},
                   .by_read_share = {{.read_share = 0,
                                      .formula = LatencyFormula{.scale = {.value = 38ns},
                                                                .exponent = {.value = 0.65},
                                                                .saturation = {.value = 0.715}}}}};
  return c;
}

// Mess benchmark, H100-64GB: 703 ns at 1433.68 GB/s of reads, and 817 ns where writes alone move
// 1090.86 GB/s; band 10 %. At that rate reads alone wait less.
TEST(LoadedLatency, WritesOfTheH100WaitLongerThanReadsAtTheSameRate) {
  const auto memory = make_device(h100_64());
  const auto ns = [&](double rate, double share) {
    const auto at = Bandwidth::from_base(static_cast<std::int64_t>(rate * 1e9));
    return 365 + to_seconds(memory->added_latency(at, share)) * 1e9;
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
  c.ports.value = 1;
  EXPECT_EQ(make_device(c)->added_latency(50_GBps, 0.5), 0ns);
  c.queueing = LatencyFamily{{{.read_share = 0.5, .points = {point(1.5625, 100ns)}}}};
  EXPECT_EQ(make_device(c)->added_latency(50_GBps, 0.5), 100ns);
  c.ports.value = 2;
  EXPECT_EQ(make_device(c)->added_latency(50_GBps, 0.5), 50ns);
}

// 1 us unloaded, 100 ns in the memory and 200 ns on the link at 10 GB/s of reads.
TEST(LoadedLatency, TheRoundTripHasTheQueuesOfLinksAndMemory) {
  CxlConfig port;
  port.raw.value = 10_GBps;
  port.ports.value = 1;
  port.queueing = LatencyFamily{{{.read_share = 1, .points = {point(1, 200ns)}}}};
  DramConfig dram = h100_64();
  dram.peak.value = 10_GBps;
  // .5 of saturation: 100 ns * .5 / (1 - .5) at half of the peak, and twice the peak is beyond.
  dram.queueing = DramQueueing{
      .scale = {.value = 100ns}, .exponent = {.value = 1.0}, .saturation = {.value = 1.0}};
  const auto link = make_device(port);
  const auto memory = make_device(dram);
  const std::array<const Link*, 1> links{link.get()};
  const RoundTrip trip{.unloaded = 1us, .memory = memory.get(), .links = links};
  EXPECT_EQ(trip.at({}), 1us);
  EXPECT_EQ(trip.at(5_GBps), 1us + 100ns + 100ns);
}

// 60 KB in flight over 1 us unloaded: at 50 GB/s the memory of 100 GB/s adds 100 ns * .5 / (1 -
// .5), and the link as much, so that 50 GB/s * 1.2 us are 60 KB. Unloaded it would be 60 GB/s.
TEST(LoadedLatency, AWindowFindsTheRateThatItsLoadedWayAllows) {
  CxlConfig port;
  port.raw.value = 100_GBps;
  port.ports.value = 1;
  port.queueing =
      LatencyFamily{{{.read_share = 1, .points = {point(0.5, 100ns), point(1, 300ns)}}}};
  DramConfig dram = h100_64();
  dram.peak.value = 100_GBps;
  dram.queueing = DramQueueing{
      .scale = {.value = 100ns}, .exponent = {.value = 1.0}, .saturation = {.value = 1.0}};
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

template <class Config>
std::string mistakes_of(const std::string& text) {
  Diagnostics diagnostics;
  const Document document =
      load_text("schema: tiersim.queueing/v1\n" + text, "queueing.yaml", {}, diagnostics);
  read<Config>(document, "queueing", diagnostics);
  return diagnostics.text();
}

TEST(LoadedLatency, ACurveIsAFormulaOrRisingPoints) {
  EXPECT_EQ(mistakes_of<LatencyFamily>("by_read_share:\n"
                                       "  - read_share: 0\n"
                                       "    points: [{load: 0.5, added: 1 ns}]\n"
                                       "  - read_share: 1\n"
                                       "    formula: {scale: 1 ns, exponent: 1, saturation: 1}\n"),
            "");
  EXPECT_THAT(mistakes_of<LatencyFamily>("by_read_share: []\n"), HasSubstr("has no curve"));
  EXPECT_THAT(mistakes_of<LatencyFamily>("by_read_share: [{read_share: 0}]\n"),
              HasSubstr("has neither formula nor points"));
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

TEST(LoadedLatency, ADramSaysItsCurveOfReadsOnce) {
  const std::string reads = "scale: 38 ns\nexponent: 0.65\nsaturation: 0.968\n";
  EXPECT_EQ(mistakes_of<DramQueueing>(reads), "");
  const std::string twice =
      "by_read_share: [{read_share: 1, points: [{load: 0.5, added: 1 ns}]}]\n";
  EXPECT_THAT(mistakes_of<DramQueueing>(reads + twice), HasSubstr("has a curve of reads alone"));
}

}  // namespace
}  // namespace tiersim::loaded_latency_test
