// The map of the three levels: results alone and together in round numbers, and its one rule: flow
// and packets agree within 2 % where there is one bottleneck and no limit of credits or tags, from
// 64 packets on.
#include <cmath>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "hwmodels/link/cxl.hpp"
#include "hwmodels/memory/dram.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "sim/config/describe.hpp"
#include "sim/step/importers.hpp"
#include "sim/validate/fidelity_map.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"
#include "tests/unit/validate/memory_bands.hpp"

namespace tiersim::fidelity_map_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using enum LevelMeasure::Kind;

// 100 GB/s for all, and nothing but payload.
class Pipe final : public Device {
 public:
  std::span<const Channel> channels() const override { return channels_; }
  AccessCost cost(Direction, Bytes payload, Bytes) const override {
    return {.charges = {{0, payload}}, .latency = 1us, .min_duration = {}, .moved = payload};
  }

 private:
  std::vector<Channel> channels_{{"all", 100_GBps}};
};

LevelAccess asked(const Pipe& pipe, Bytes payload, std::size_t instance = 0) {
  return ask_of(pipe, Direction::read, payload, payload, instance);
}
double value(const std::vector<LevelAccess>& accesses, LevelMeasure measure, Fidelity level) {
  return answer_of(accesses, measure, level).value;
}

TEST(LevelAccesses, AloneEachHasTheWholeChannelAndTogetherTheyShareIt) {
  const Pipe pipe;
  const std::vector<LevelAccess> two{asked(pipe, 100'000_B), asked(pipe, 100'000_B)};
  EXPECT_NEAR(value(two, {.kind = rate}, Fidelity::analytic), 200, 1e-9);
  EXPECT_NEAR(value(two, {.kind = rate}, Fidelity::flow), 100, 1e-9);
  const std::vector<LevelAccess> apart{asked(pipe, 100'000_B), asked(pipe, 100'000_B, 1)};
  EXPECT_NEAR(value(apart, {.kind = rate}, Fidelity::flow), 200, 1e-9);
}

// 1 KB and 9 KB share until the short one ends after 20 ns; the other has 8 KB left, for 80 ns.
TEST(LevelAccesses, AShortFlowDoesNotWaitForALongOne) {
  const Pipe pipe;
  std::vector<LevelAccess> two{asked(pipe, 9000_B), asked(pipe, 1000_B)};
  EXPECT_NEAR(value(two, {.kind = time_of_one, .index = 1}, Fidelity::analytic), 10, 1e-9);
  // Shares are of each flow's own bytes on its widest channel: 50 GB/s each.
  EXPECT_NEAR(value(two, {.kind = time_of_one, .index = 1}, Fidelity::flow), 20, 1e-3);
  EXPECT_NEAR(value(two, {.kind = time}, Fidelity::flow), 0.1, 1e-6);
  two[0].latency = latency_of(two[0]);
  EXPECT_NEAR(value(two, {.kind = time}, Fidelity::flow), 1.09, 1e-6);
}

// A window leaves the first one 20 GB/s, and the second one takes the rest.
TEST(LevelAccesses, AWindowLimitsItsOwnFlowOnly) {
  const Pipe pipe;
  std::vector<LevelAccess> two{asked(pipe, 100'000_B), asked(pipe, 100'000_B)};
  two[0].least = 5us;
  EXPECT_NEAR(value(two, {.kind = rate_of_one, .index = 0}, Fidelity::flow), 20, 0.01);
  EXPECT_NEAR(value(two, {.kind = rate_of_one, .index = 1}, Fidelity::flow), 80, 0.01);
  EXPECT_NEAR(value(two, {.kind = rate_of_one, .index = 1}, Fidelity::analytic), 100, 0.01);
}

TEST(LevelAccesses, AMixKeepsItsProportion) {
  const Pipe pipe;
  std::vector<LevelAccess> mix{asked(pipe, 60'000_B), asked(pipe, 30'000_B)};
  mix[0].weight = 2;
  mix[1].weight = 1;
  EXPECT_NEAR(value(mix, {.kind = rate_of_one, .index = 0}, Fidelity::flow), 66.667, 0.01);
  EXPECT_NEAR(value(mix, {.kind = time_of_one, .index = 0}, Fidelity::flow), 900, 0.01);
  EXPECT_NEAR(value(mix, {.kind = time_of_one, .index = 1}, Fidelity::flow), 900, 0.01);
}

TEST(LevelRow, ErrorsAreOfPacketsAndOnlyWhatIsAlikeMustAgree) {
  LevelRow row{.facts = {.id = "one", .group = "hbm", .title = "One", .unit = "GB/s"}};
  row.answers = {LevelAnswer{.value = 200}, LevelAnswer{.value = 103}, LevelAnswer{.value = 100}};
  EXPECT_NEAR(row.error_of(Fidelity::analytic), 1, 1e-12);
  EXPECT_NEAR(row.error_of(Fidelity::flow), 0.03, 1e-12);
  EXPECT_TRUE(row.agrees());
  row.facts.alike = true;
  EXPECT_FALSE(row.agrees());
  row.answers[1].value = 101.9;
  EXPECT_TRUE(row.agrees());
}

TEST(LevelRow, AReasonIsShownWhereFlowIsMoreThanTheBandOff) {
  LevelRow row{.facts = {.id = "one", .group = "hbm", .title = "One", .unit = "GB/s"}};
  row.answers = {LevelAnswer{.value = 100}, LevelAnswer{.value = 97}, LevelAnswer{.value = 100}};
  EXPECT_FALSE(row.explained());
  row.why = "because";
  EXPECT_TRUE(row.explained());
  row.answers[1].value = 99;
  EXPECT_FALSE(row.explained());
}

FidelityMapConfig config_of_text(const std::string& text, Diagnostics& diagnostics) {
  const Document document = load_text(
      "schema: tiersim.fidelity_map/v1\ntitle: One\n" + text, testing::configs() / "map.yaml",
      {.config_root = testing::configs(), .importers = make_all_importers()}, diagnostics);
  return read<FidelityMapConfig>(document, "fidelity_map", diagnostics);
}

// A link's file as a part of a map; empty where it is no link.
std::string map_of(const std::string& file) {
  constexpr const char* kSwitch =
      ", packet_level: {switch: {latency: {value: 100 ns, class: assumed, source: here}}}}\n";
  const std::string name = std::filesystem::path(file).stem().string();
  if (name.starts_with("pcie_")) return "pcie: {base: " + file + kSwitch;
  if (name.starts_with("cxl_") && name != "cxl_switch")
    return "cxl: {base: " + file + ", ports: {value: 1, class: assumed, source: here}" + kSwitch;
  const bool is_port = name.starts_with("nvlink") || name.starts_with("xgmi_") ||
                       name.starts_with("ualink_") || name.starts_with("ici_") ||
                       name.starts_with("neuronlink_") || name.starts_with("roce_");
  if (is_port && !name.starts_with("nvlink_c2c") && !name.starts_with("nvlink_bridge"))
    return "nvlink: {base: " + file + "}\nnvswitch: {base: devices/nvswitch.yaml}\n";
  return "";
}

TEST(FidelityMapOfShippedLinks, SingleTransfersOf64PacketsAgree) {
  std::int64_t held = 0;
  for (const std::string& file : testing::shipped("devices")) {
    const std::string text = map_of(file);
    if (text.empty()) continue;
    Diagnostics diagnostics;
    const FidelityMapConfig config = config_of_text(text, diagnostics);
    ASSERT_EQ(diagnostics.text(), "") << file;
    // Behind a switch: the port before it has the latency of both.
    if (config.cxl && config_of<CxlConfig>(*config.cxl->spec)->latency.value == 0ns) continue;
    for (const LevelWorkload& workload : workloads_of(config)) {
      if (!workload.facts.alike || workload.measure.kind != time_of_one) continue;
      ++held;
      const double flow = workload.answer(Fidelity::flow).value;
      EXPECT_NEAR(flow / workload.answer(Fidelity::packet).value, 1, kAlikeWithin)
          << file << ' ' << workload.facts.id;
    }
  }
  EXPECT_GE(held, 2 * 13);  // five PCI Express files, three of CXL, five of NVLink
}

// A DRAM's file as a part of a map; nothing for another kind, or one without a packet level.
std::optional<FidelityMapConfig> map_of_memory(const std::string& file) {
  Diagnostics diagnostics;
  FidelityMapConfig config = config_of_text("hbm: {base: " + file + "}\n", diagnostics);
  const auto* dram = diagnostics.ok() ? config_of<DramConfig>(*config.hbm->spec) : nullptr;
  if (dram == nullptr || !dram->packet_level) return std::nullopt;
  return config;
}

// Memories at packet level, by file: each fourth, and all at night.
std::map<std::string, FidelityMapConfig> shipped_memories() {
  std::vector<std::string> files = testing::shipped("devices");
  std::erase_if(files, [](const std::string& file) { return !map_of_memory(file); });
  EXPECT_GE(files.size(), 35U);
  std::map<std::string, FidelityMapConfig> out;
  for (const std::string& file : testing::part_of(files, 4))
    out.emplace(file, *map_of_memory(file));
  return out;
}
const DramConfig& dram_of(const FidelityMapConfig& config) {
  return *config_of<DramConfig>(*config.hbm->spec);
}
// The answer of a workload of the map as a share of the data sheet's rate.
double answer(const FidelityMapConfig& config, const std::string& id, Fidelity level) {
  const double peak = static_cast<double>(dram_of(config).peak.value.in_base()) / 1e9;
  for (const LevelWorkload& workload : workloads_of(config))
    if (workload.facts.id == id) return workload.answer(level).value / peak;
  ADD_FAILURE() << id;
  return 0;
}

constexpr double kIntervals = 4;  // of refresh that a stream of the map takes at least
// The largest difference of a stream of reads that any kind may have, whatever its timings leave.
constexpr double kStreamsWithin = 0.06;

// The timings of the file bound the bandwidth at packet level (memory_bands.hpp). The bandwidth at
// flow level is a number of the file. Together they bound the ratio of the two.
TEST(FidelityMapOfShippedMemories, StreamsOfReadsAreWithinWhatTheirTimingsLeave) {
  for (const auto& [file, config] : shipped_memories()) {
    const memory_bands::Shares band = memory_bands::Memory(dram_of(config)).reads(kIntervals);
    const double packets = answer(config, "hbm.stream", Fidelity::packet);
    const double flow = answer(config, "hbm.stream", Fidelity::flow);
    EXPECT_GE(packets, band.low) << file;
    EXPECT_LE(packets, band.high) << file;
    EXPECT_NEAR(flow / packets, 1, kStreamsWithin) << file;
  }
}

// The share of the peak that a mix of equal streams reaches, as fit_dram() finds it.
double equal_mix(const DramPacketConfig& config) {
  DramProbe probe{.pattern = DramPattern::sequential,
                  .streams = 112,
                  .run = 64_B,
                  .read_share = 0.5,
                  .outstanding_atoms = 4096,
                  .atoms = 200'000};
  probe.offered = std::min(1.0, run_dram_probe(config, probe).achieved);
  probe.arrivals = DramArrivals::poisson;
  return run_dram_probe(config, probe).achieved;
}

// A GPU limits its writes before its memory, at both levels: they differ by the end of the run, at
// most one refresh of its four intervals. Elsewhere packets give what refresh leaves to writes,
// since nothing turns the bus, and flow gives what a write costs with its turns of the bus in a mix
// of equal parts, m = 2 / (1 / r + 1 / w).
TEST(FidelityMapOfShippedMemories, StreamsOfWritesDifferByTheTurnsOfAMixAlone) {
  std::int64_t limited = 0;
  std::int64_t others = 0;
  for (const auto& [file, config] : shipped_memories()) {
    const DramConfig& dram = dram_of(config);
    const memory_bands::Memory memory(dram);
    const double packets = answer(config, "hbm.write-stream", Fidelity::packet);
    const double flow = answer(config, "hbm.write-stream", Fidelity::flow);
    if (dram.write_limit) {
      ++limited;
      EXPECT_NEAR(packets / flow, 1, memory.refresh() / kIntervals + 0.005) << file;
      continue;
    }
    ++others;
    const memory_bands::Shares band = memory.writes(kIntervals);
    EXPECT_GE(packets, band.low) << file;
    EXPECT_LE(packets, band.high) << file;
    const double mix = equal_mix(*dram.packet_level);
    EXPECT_LT(mix, packets) << file;
    EXPECT_NEAR(flow * (2 / mix - 1 / dram.read_efficiency.value), 1, 0.03) << file;
  }
  EXPECT_GE(limited, testing::is_nightly() ? 25 : 6);
  EXPECT_GE(others, testing::is_nightly() ? 9 : 2);
}

// Random runs take a third of a second, so that kinds without an older member have them here.
TEST(FidelityMapOfShippedMemories, RandomReadsOfNewKindsAreWithinTheirBanksAndActivates) {
  std::int64_t held = 0;
  for (const auto& [file, config] : shipped_memories()) {
    if (file.find("lpddr") == std::string::npos && file.find("socamm") == std::string::npos &&
        file.find("hbm4") == std::string::npos)
      continue;
    ++held;
    const DramConfig& dram = dram_of(config);
    const double atoms = 64_B / dram.packet_level->atom.value;
    const memory_bands::Shares band = memory_bands::Memory(dram).random(atoms);
    const double packets = answer(config, "hbm.read-64b", Fidelity::packet);
    EXPECT_GE(packets, band.low) << file;
    EXPECT_LE(packets, band.high) << file;
    EXPECT_NEAR(answer(config, "hbm.read-64b", Fidelity::flow) / packets, 1, 0.14) << file;
  }
  EXPECT_GE(held, testing::is_nightly() ? 5 : 1);
}

std::filesystem::path shipped_map() {
  return std::filesystem::path(TIERSIM_SOURCE_DIR) / "reports/targets/levels/h100_node.yaml";
}
FidelityMapConfig shipped_config() {
  Diagnostics diagnostics;
  const Document document = load_document(
      shipped_map(), {.config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  auto config = read<FidelityMapConfig>(document, "fidelity_map", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return config;
}

TEST(FidelityMapOfTheShippedNode, FlowAndPacketsAgreeWhereNothingButOneWireLimits) {
  std::int64_t held = 0;
  for (const LevelWorkload& workload : workloads_of(shipped_config())) {
    if (!workload.facts.alike) continue;
    ++held;
    const double flow = workload.answer(Fidelity::flow).value;
    EXPECT_NEAR(flow / workload.answer(Fidelity::packet).value, 1, kAlikeWithin)
        << workload.facts.id;
  }
  // Streams both ways of four links, single transfers of 64 and 256 packets, many to one.
  EXPECT_EQ(held, 4 * 2 + 4 * 2 + 4);
}

// 32 requests of 512 B in 1170 ns, and 16 lines of 64 B in 154 ns plus the waiting time at that
// rate.
TEST(FidelityMapOfTheShippedNode, WindowsAreLittlesLaw) {
  double tags = 0;
  double lines = 0;
  for (const LevelWorkload& workload : workloads_of(shipped_config())) {
    if (workload.facts.id == "pcie.tags") tags = workload.answer(Fidelity::flow).value;
    if (workload.facts.id == "cxl.lines") lines = workload.answer(Fidelity::flow).value;
  }
  EXPECT_NEAR(tags, 32 * 512 / 1170.0, 0.01);
  const FidelityMapConfig config = shipped_config();
  const auto waiting = config.cxl->spec->build()->added_latency(
      Bandwidth::from_base(std::llround(lines * 1e9)), 1, Bytes::from_base(64));
  EXPECT_NEAR(lines, 16 * 64 / (154 + to_seconds(waiting) * 1e9), 0.01);
}

TEST(FidelityMapOfTheShippedNode, EveryReasonFitsAWorkloadAndTheLongestNameCounts) {
  const FidelityMapConfig config = shipped_config();
  const std::vector<LevelWorkload> workloads = workloads_of(config);
  for (const LevelReason& reason : config.reasons)
    EXPECT_TRUE(std::ranges::any_of(workloads, [&](const LevelWorkload& workload) {
      return reason_of(config, workload.facts.id) == reason.why;
    })) << reason.workload;
  FidelityMapConfig two;
  two.reasons = {{"a.", "long"}, {"a.b", "longer"}};
  EXPECT_EQ(reason_of(two, "a.b"), "longer");
  EXPECT_EQ(reason_of(two, "a.c"), "long");
  EXPECT_EQ(reason_of(two, "b"), "");
}

std::string mistakes(const std::string& text) {
  Diagnostics diagnostics;
  config_of_text(text, diagnostics);
  return diagnostics.text();
}

TEST(FidelityMapConfig, TellsWhatDevicesLack) {
  EXPECT_EQ(mistakes("hbm: {base: devices/h100_hbm3.yaml}\n"), "");
  EXPECT_NE(mistakes("").find("has no device"), std::string::npos);
  EXPECT_NE(mistakes("hbm: {base: devices/nvme_gen5.yaml}\n").find("hbm: is of another kind"),
            std::string::npos);
  EXPECT_NE(mistakes("pcie: {base: devices/pcie_gen5_x16.yaml}\n").find("packet_level.switch"),
            std::string::npos);
  EXPECT_NE(mistakes("nvlink: {base: devices/nvlink4_h100.yaml}\n").find("nvswitch"),
            std::string::npos);
  EXPECT_NE(mistakes("module: {base: devices/ddr5_4800_expander_1.yaml}\n").find("module"),
            std::string::npos);
}

}  // namespace
}  // namespace tiersim::fidelity_map_test
