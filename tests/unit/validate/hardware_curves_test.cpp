#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/validate/hardware_answers.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::hardware_curves_test {
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
    "write_efficiency: 1, write_limit: 1, row_time: 0 ns, latency: 50 ns, queueing: {packets: ~, "
    "measured: {scale: 1, loads: [0.5, 1], curves: [{run: 32 B, read_share: 1, reaches: 1, added: "
    "[10 ns, 30 ns]}]}}}\n";

TEST(HardwareProbe, ReadsAndWritesShareAMemoryAtFlowLevelAndNotAlone) {
  const HardwareCurve curve =
      curve_of("    group: memory\n    quantity: bandwidth\n" + kMemory +
               "    points: [{read_share: 0.5, run: 4 KiB, reference: 100}]\n");
  EXPECT_NEAR(*flow_result(curve, curve.points.front()).value, 100, 0.01);
  EXPECT_NEAR(*analytic_result(curve, curve.points.front()).value, 200, 0.01);
}

TEST(HardwareProbe, TheTwoDirectionsOfALinkAreUsedAtOnce) {
  const HardwareCurve curve = curve_of(
      "    group: nvlink\n    quantity: bandwidth\n    links: [{base: devices/nvlink4_h100.yaml, "
      "efficiency: 1, header: 0 B}]\n    points: [{read_share: 0.5, run: 1 MiB, reference: "
      "900}]\n");
  EXPECT_NEAR(*flow_result(curve, curve.points.front()).value, 900, 0.1);
}

// At half of its peak of 100 GB/s its queue adds 10 ns.
TEST(HardwareProbe, OnlyFlowLevelLatencyGrowsWithTheLoad) {
  const HardwareCurve curve =
      curve_of("    group: memory\n    quantity: latency\n    axis: rate\n" + kMemory +
               "    points: [{rate: 50 GB/s, run: 32 B, reference: 60}]\n");
  EXPECT_NEAR(*flow_result(curve, curve.points.front()).value, 60, 0.01);
  EXPECT_NEAR(*analytic_result(curve, curve.points.front()).value, 50, 0.01);
}

TEST(HardwareProbe, BusBandwidthOfAnAllReduceIsNcclsMeasure) {
  const std::string hardware =
      "    links: [{base: devices/nvlink4_h100.yaml}]\n"
      "    collective: {base: devices/collective_nccl_nvlink4.yaml}\n"
      "    points: [{size: 256 MiB, ranks: 8, reference: 400}]\n";
  const HardwareCurve rate =
      curve_of("    group: collective\n    quantity: bus_bandwidth\n" + hardware);
  const HardwareCurve time = curve_of("    group: collective\n    quantity: time\n" + hardware);
  const double us = *flow_result(time, time.points.front()).value;
  EXPECT_NEAR(*flow_result(rate, rate.points.front()).value, 1.75 * 268'435'456 / us / 1e3, 1e-6);
}

// The flow level states what streams of reads sustain; the packet level loses it to refresh. They
// are to agree within 2 %, for one stream and for 16, with 4096 atoms outstanding in a stack. One
// of HBM4 moves 3.4 times as much as an H200's, and needs as many more to be busy at the same
// latency.
TEST(HardwareProbe, EachShippedHbmReadsAsMuchOfItsPeakAtFlowAsAtPacketLevel) {
  std::int64_t held = 0;
  for (const std::string& device : testing::shipped("devices")) {
    if (device.find("_hbm") == std::string::npos) continue;
    const std::string outstanding =
        device.find("_hbm4") == std::string::npos ? "" : ", outstanding: 16384";
    const HardwareCurve curve = curve_of(
        "    group: memory\n    quantity: share_of_peak\n    axis: run\n"
        "    memory: {base: " +
        device + "}\n    points: [{run: 1 KiB, streams: 1, reference: 1" + outstanding +
        "}, {run: 4 KiB, streams: 16, reference: 1" + outstanding + "}]\n");
    for (const ReferencePoint& point : curve.points) {
      const LevelResult packet = packet_result(curve, point);
      ASSERT_TRUE(packet.value) << device << ": " << packet.why_none;
      const double flow = *flow_result(curve, point).value;
      EXPECT_NEAR(*packet.value / flow, 1, 0.02) << device << ", run " << point.at.run->in_base();
      ++held;
    }
  }
  EXPECT_GE(held, 14);  // A100, H100, H200, H800, H20, B200, GH200
}

LevelResult packets_of(const std::string& text) {
  const HardwareCurve curve = curve_of(text);
  return packet_result(curve, curve.points.front());
}

// Random rows bind, and a write of 8 B in an atom of 32 B opens one to read and one to write: half
// of what reads reach, less what turning the bus around costs.
TEST(HardwareProbe, AWriteOfPartOfAnAtomIsAReadAndAWriteByPackets) {
  const auto read = [](const std::string& share) {
    return *packets_of(
                "    group: memory\n    quantity: accesses\n"
                "    memory: {base: devices/h100_hbm3.yaml}\n"
                "    points: [{run: 8 B, pattern: random, read_share: " +
                share + ", reference: 1}]\n")
                .value;
  };
  const double reads = read("1");
  const double writes = read("0");
  EXPECT_LE(writes, 0.5 * reads);
  EXPECT_GE(writes, 0.45 * reads);
  EXPECT_GT(read("0.5"), writes);
  EXPECT_LT(read("0.5"), reads);
}

// An H100 port of 450 GB/s that loses nothing but headers, 16 B for each 256 B: 64 MiB take 158.4
// us and, before them, the way through the switch of .55 us, for a read both ways.
const std::string kPort = "{base: devices/nvlink4_h100.yaml, efficiency: 1}";
const std::string kSwitch = "{base: devices/nvswitch.yaml}";

TEST(HardwareProbe, APortIsReadByPackets) {
  const auto read = [](const std::string& share) {
    return *packets_of("    group: nvlink\n    quantity: bandwidth\n    links: [" + kPort + ", " +
                       kSwitch + "]\n    points: [{run: 1 MiB, read_share: " + share +
                       ", reference: 1}]\n")
                .value;
  };
  const double bytes = 67'108'864e-3;  // in GB/s times us
  const double wire = bytes * 272 / 256 / 450;
  EXPECT_NEAR(read("0"), bytes / (wire + 0.55), 0.2);
  EXPECT_NEAR(read("1"), bytes / (wire + 1.1), 0.2);
  // Both ways at once lose at most an acknowledgement of 16 B for each 16 packets.
  const double both = read("0.5");
  EXPECT_LT(both, 2 * bytes / (wire + 0.55));
  EXPECT_GE(both, 2 * bytes / (wire * 273 / 272 + 0.55) - 0.4);
}

std::string all_reduce(const std::string& links, const std::string& device,
                       const std::string& point, const std::string& quantity = "time") {
  return "    group: collective\n    quantity: " + quantity + "\n    links: [" + links +
         "]\n    collective: " + device + "\n    points: [{" + point + ", reference: 1}]\n";
}

// 6.6 us of start-up and 14 hops of .6 us are 15 us; 1 KiB by LL takes less than 2 % of it.
TEST(HardwareProbe, ASmallAllReduceByPacketsTakesItsStartUpAndHops) {
  const std::string ring = "{base: devices/collective_nccl_nvlink4.yaml, algorithm: ring_ll}";
  const LevelResult time =
      packets_of(all_reduce(kPort + ", " + kSwitch, ring, "size: 1 KiB, ranks: 8"));
  ASSERT_TRUE(time.value) << time.why_none;
  EXPECT_GE(*time.value, 15);
  EXPECT_LE(*time.value, 15 * 1.02);
  const LevelResult rate = packets_of(
      all_reduce(kPort + ", " + kSwitch, ring, "size: 1 KiB, ranks: 8", "bus_bandwidth"));
  EXPECT_NEAR(*rate.value, 1.75 * 1024 / *time.value / 1e3, 1e-9);
}

TEST(HardwareProbe, WhatPacketsCannotSayIsSaidWithItsReason) {
  const std::string nccl = "{base: devices/collective_nccl_nvlink4.yaml}";
  const std::string nvls = "{base: devices/collective_nccl_nvlink4.yaml, algorithm: nvls}";
  const auto why = [](const std::string& links, const std::string& device,
                      const std::string& size) {
    const LevelResult reading = packets_of(all_reduce(links, device, "size: " + size));
    EXPECT_FALSE(reading.value);
    return reading.why_none;
  };
  EXPECT_EQ(
      why(kPort + ", {base: devices/nvswitch.yaml, packet_level: {queues: fifo}}", nvls, "1 MiB"),
      "NVLS: a switch with one queue for each input does not add up");
  EXPECT_EQ(why(kPort + ", {base: devices/cxl_switch.yaml}", nccl, "1 MiB"),
            "its switch has no packet_level mapping");
  EXPECT_EQ(why(kPort, "{base: devices/collective_nccl_pcie5.yaml}", "1 MiB"),
            "its collective has no packet_level mapping");
  EXPECT_EQ(why(kPort, "{base: devices/collective_bytes_only.yaml}", "1 MiB"),
            "no packet-level model has this collective");
  EXPECT_EQ(why("{base: devices/nvlink4_h100.yaml, latency: 0 ns}", nccl, "1 MiB"),
            "its port's packet_level.flight leaves less than 1 ns of the port's latency to each of "
            "its ends");
  EXPECT_EQ(why("{base: devices/nvlink4_h100.yaml, packet_level: {credits: 16}}", nccl, "1 MiB"),
            "its port's packet_level.credits are too few for one packet with its header");
  EXPECT_EQ(why("{base: devices/pcie_gen5_x16.yaml}", nccl, "1 MiB"),
            "no packet-level model has this port");
  // 14 packets of 256 B for each 256 B of the size.
  EXPECT_EQ(why(kPort, nccl, "1 GiB"), "59 million packets, which take too long here");
}

// Behind the link, DDR5 takes what is left of its 111 ns of latency after a closed row of 45.8 ns,
// and then tRCD + CL + burst, 31.6 ns, or a whole row, and in the mean 11 ns for refresh.
TEST(HardwareProbe, AnExpanderByPacketsIsItsLinkAndItsMemory) {
  const auto read = [](const std::string& memory) {
    return *packets_of("    group: cxl\n    quantity: latency\n" + memory +
                       "    links: [{base: devices/cxl_port_gen5_x16.yaml}]\n"
                       "    points: [{run: 64 B, reference: 1}]\n")
                .value;
  };
  const double added = read("    memory: {base: devices/ddr5_4800_host_8.yaml}\n") - read("");
  EXPECT_GE(added, 65.2 + 31.6);
  EXPECT_LE(added, 111 + 15);
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
}  // namespace tiersim::hardware_curves_test
