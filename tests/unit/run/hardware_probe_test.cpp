#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/run/hardware/level_readings.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim {
namespace {

HardwareCurve curve_of(const std::string& text) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "schema: tiersim.hardware_curves/v1\ncurves:\n  - id: one\n    title: One\n"
      "    kind: model\n    source: nowhere\n    band: 0.1\n    held: [flow]\n" +
          text,
      testing::configs() / "curves.yaml", {.config_root = testing::configs()}, diagnostics);
  auto curves = read<HardwareCurves>(document, "hardware_curves", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return std::move(curves.curves.front());
}

constexpr auto kFlow = static_cast<std::size_t>(Fidelity::flow);

// 100 GB/s that reads and writes share, all of it in rows of no time.
const std::string kMemory =
    "    memory: {base: devices/h100_hbm3.yaml, peak: 100 GB/s, read_efficiency: 1, "
    "write_efficiency: 1, write_limit: 1, row_time: 0 ns, latency: 50 ns, queueing: {scale: 10 ns, "
    "exponent: 1, saturation: 1}}\n";

TEST(HardwareProbe, ReadsAndWritesShareAMemoryAtFlowLevelAndNotAlone) {
  const HardwareCurve curve =
      curve_of("    group: memory\n    quantity: bandwidth\n" + kMemory +
               "    points: [{read_share: 0.5, run: 4 KiB, reference: 100}]\n");
  EXPECT_NEAR(*read_flow(curve, curve.points.front()).value, 100, 0.01);
  EXPECT_NEAR(*read_analytic(curve, curve.points.front()).value, 200, 0.01);
}

TEST(HardwareProbe, TheTwoDirectionsOfALinkAreUsedAtOnce) {
  const HardwareCurve curve = curve_of(
      "    group: nvlink\n    quantity: bandwidth\n    links: [{base: devices/nvlink4_h100.yaml, "
      "efficiency: 1, header: 0 B}]\n    points: [{read_share: 0.5, run: 1 MiB, reference: "
      "900}]\n");
  EXPECT_NEAR(*read_flow(curve, curve.points.front()).value, 900, 0.1);
}

// At half of its peak of 100 GB/s a queue of 10 ns u / (1 - u) adds 10 ns.
TEST(HardwareProbe, OnlyFlowLevelLatencyGrowsWithTheLoad) {
  const HardwareCurve curve =
      curve_of("    group: memory\n    quantity: latency\n    axis: rate\n" + kMemory +
               "    points: [{rate: 50 GB/s, run: 32 B, reference: 60}]\n");
  EXPECT_NEAR(*read_flow(curve, curve.points.front()).value, 60, 0.01);
  EXPECT_NEAR(*read_analytic(curve, curve.points.front()).value, 50, 0.01);
}

TEST(HardwareProbe, BusBandwidthOfAnAllReduceIsNcclsMeasure) {
  const std::string hardware =
      "    links: [{base: devices/nvlink4_h100.yaml}]\n"
      "    collective: {base: devices/collective_nccl_nvlink4.yaml}\n"
      "    points: [{size: 256 MiB, ranks: 8, reference: 400}]\n";
  const HardwareCurve rate =
      curve_of("    group: collective\n    quantity: bus_bandwidth\n" + hardware);
  const HardwareCurve time = curve_of("    group: collective\n    quantity: time\n" + hardware);
  const double us = *read_flow(time, time.points.front()).value;
  EXPECT_NEAR(*read_flow(rate, rate.points.front()).value, 1.75 * 268'435'456 / us / 1e3, 1e-6);
}

// The flow level states what streams of reads sustain; the packet level loses it to refresh. They
// are to agree within 2 %, for one stream and for 16.
TEST(HardwareProbe, EachShippedHbmReadsAsMuchOfItsPeakAtFlowAsAtPacketLevel) {
  std::int64_t held = 0;
  for (const std::string& device : testing::shipped("devices")) {
    if (device.find("_hbm") == std::string::npos) continue;
    const HardwareCurve curve = curve_of(
        "    group: memory\n    quantity: share_of_peak\n    axis: run\n"
        "    memory: {base: " +
        device +
        "}\n"
        "    points: [{run: 1 KiB, streams: 1, reference: 1}, {run: 4 KiB, streams: 16, "
        "reference: 1}]\n");
    for (const ReferencePoint& point : curve.points) {
      const LevelReading packet = read_packet(curve, point);
      ASSERT_TRUE(packet.value) << device << ": " << packet.why_none;
      const double flow = *read_flow(curve, point).value;
      EXPECT_NEAR(*packet.value / flow, 1, 0.02) << device << ", run " << point.at.run->in_base();
      ++held;
    }
  }
  EXPECT_GE(held, 14);  // A100, H100, H200, H800, H20, B200, GH200
}

TEST(HardwareProbe, APointIsWithinOutsideKnownOrStale) {
  CurveReading curve{.facts = {.band = 0.1, .held = {Fidelity::flow}}, .points = {}};
  PointReading point{.point = {.value = 100}, .readings = {}};
  const auto status = [&](double value, const std::string& known) {
    point.readings[kFlow].value = value;
    point.point.known[kFlow] = known;
    return curve.status(point, Fidelity::flow);
  };
  EXPECT_EQ(status(109, ""), ProbeStatus::within);
  EXPECT_EQ(status(111, ""), ProbeStatus::outside);
  EXPECT_EQ(status(111, "why"), ProbeStatus::known);
  EXPECT_EQ(status(109, "why"), ProbeStatus::stale);
  EXPECT_EQ(curve.status(point, Fidelity::packet), ProbeStatus::none);
  point.readings[static_cast<std::size_t>(Fidelity::packet)].value = 1;
  EXPECT_EQ(curve.status(point, Fidelity::packet), ProbeStatus::not_held);
}

TEST(HardwareProbe, BetweenTwoReferencesThereIsNoError) {
  const ReferencePoint point{.value = 380, .other = 370.0};
  EXPECT_EQ(point.error_of(375), 0);
  EXPECT_NEAR(point.error_of(399), 0.05, 1e-12);
  EXPECT_NEAR(point.error_of(333), -0.1, 1e-12);
}

TEST(HardwareProbe, AQuestionWithoutItsHardwareIsRefused) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "schema: tiersim.hardware_curves/v1\ncurves:\n  - {id: one, title: One, group: memory, "
      "quantity: time, kind: model, source: nowhere, band: 0.1, held: [], points: [{reference: 1}, "
      "{reference: 2}]}\n",
      testing::configs() / "curves.yaml", {.config_root = testing::configs()}, diagnostics);
  read<HardwareCurves>(document, "hardware_curves", diagnostics);
  const std::string said = diagnostics.text();
  EXPECT_NE(said.find("collective"), std::string::npos) << said;
  EXPECT_NE(said.find("neither memory nor links"), std::string::npos) << said;
  EXPECT_NE(said.find("several points"), std::string::npos) << said;
}

}  // namespace
}  // namespace tiersim
