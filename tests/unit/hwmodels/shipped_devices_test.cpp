// Every shipped device and system can be read and gives its measured or stated values.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hwmodels/collective/timed_collective.hpp"
#include "hwmodels/compute/roofline_gpu.hpp"
#include "hwmodels/device_library.hpp"
#include "sim/config/describe.hpp"
#include "sim/step/importers.hpp"
#include "sim/step/system_config.hpp"
#include "tests/unit/hwmodels/link_rate.hpp"

namespace tiersim::shipped_devices_test {
namespace {

namespace fs = std::filesystem;
using namespace literals;
using testing::rate_of;

fs::path configs() {
  return fs::path(TIERSIM_SOURCE_DIR) / "configs";
}

std::vector<std::string> names_in(const char* folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(configs() / folder))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
  std::ranges::sort(out);
  return out;
}

template <class C>
C shipped(const std::string& folder, const std::string& kind, const std::string& name) {
  Diagnostics diagnostics;
  const Document document =
      load_document(configs() / folder / (name + ".yaml"),
                    {.config_root = configs(), .importers = make_all_importers()}, diagnostics);
  auto config = read<C>(document, kind, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  for (const SourcedNumber& number : list_numbers(config))
    EXPECT_NE(number.source, "not stated") << name << ": " << number.path;
  return config;
}

template <class Interface>
std::unique_ptr<Interface> device(const std::string& name) {
  return shipped<DeviceConfig<Interface>>("devices", "device", name).spec->build();
}

// The kind of a device is known by its model, which every file states or gets from its base.
std::string model_of(const std::string& name) {
  Diagnostics diagnostics;
  const Document document =
      load_document(configs() / "devices" / (name + ".yaml"),
                    {.config_root = configs(), .importers = make_all_importers()}, diagnostics);
  const auto* model = document.root().find("model");
  return model == nullptr ? "" : model->value.scalar;
}

class ShippedDevice : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedDevice, CanBeBuilt) {
  const DeviceLibrary library = make_device_library();
  const std::string model = model_of(GetParam());
  if (library.memory.find(model) != nullptr)
    EXPECT_GT(device<MemoryTier>(GetParam())->capacity(), 0_B);
  else if (library.link.find(model) != nullptr)
    EXPECT_NE(device<Link>(GetParam()), nullptr);
  else if (library.request.find(model) != nullptr)
    EXPECT_EQ(device<Requester>(GetParam())->channels().size(), model == "host_cpu" ? 1U : 2U);
  else if (library.collective.find(model) != nullptr)
    EXPECT_EQ(device<Collective>(GetParam())->cost({.size = 1_KiB}, {}).out, 0_B);  // one rank
  else
    EXPECT_NE(device<ComputeUnit>(GetParam()), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedDevice, ::testing::ValuesIn(names_in("devices")),
                         [](const auto& test) { return test.param; });

// Checks that more bytes never cost less: busy time of every channel, bytes moved, least time.
void expect_more_costs_more(const Device& device, const std::string& name) {
  for (const Direction direction : {Direction::read, Direction::write})
    for (const std::int64_t run : {1, 32, 100, 256, 4096, 1 << 20}) {
      AccessCost last;
      for (std::int64_t payload = run; payload < (std::int64_t{1} << 40);
           payload = payload * 3 + 1) {
        const AccessCost now =
            device.cost(direction, Bytes::from_base(payload), Bytes::from_base(run));
        EXPECT_GE(now.moved, Bytes::from_base(payload)) << name;
        EXPECT_GE(now.moved, last.moved) << name;
        EXPECT_GE(now.min_duration, last.min_duration) << name;
        for (std::size_t i = 0; i < last.charges.size(); ++i) {
          EXPECT_EQ(now.charges[i].channel, last.charges[i].channel) << name;
          EXPECT_GE(now.charges[i].busy, last.charges[i].busy) << name;
        }
        last = now;
      }
    }
}

TEST(ShippedDevices, MoreBytesNeverCostLess) {
  const DeviceLibrary library = make_device_library();
  for (const std::string& name : names_in("devices")) {
    if (library.memory.find(model_of(name)) != nullptr)
      expect_more_costs_more(*device<MemoryTier>(name), name);
    else if (library.link.find(model_of(name)) != nullptr)
      expect_more_costs_more(*device<Link>(name), name);
  }
}

class ShippedSystem : public ::testing::TestWithParam<std::string> {};

// One scenario runs on every system, because the tiers have the same names.
TEST_P(ShippedSystem, HasTheTiersOfEveryScenario) {
  const auto system = shipped<SystemConfig>("systems", "system", GetParam());
  ASSERT_TRUE(system.tiers.contains("hbm"));
  ASSERT_TRUE(system.tiers.contains("pool"));
  EXPECT_TRUE(system.tiers.at("hbm").path.empty());
  EXPECT_FALSE(system.tiers.at("pool").path.empty());
  std::string name = system.name;
  std::ranges::replace(name, '-', '_');
  EXPECT_EQ(name, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSystem, ::testing::ValuesIn(names_in("systems")),
                         [](const auto& test) { return test.param; });

// Names of devices that a file takes as a base.
std::set<std::string> bases_of(const std::filesystem::path& path) {
  std::set<std::string> out;
  const std::regex base(R"(base:\s*(?:(?:\.\./)?devices/)?(\w+)\.yaml)");
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  for (std::string line; std::getline(file, line);)
    for (std::sregex_iterator at(line.begin(), line.end(), base), end; at != end; ++at)
      out.insert((*at)[1]);
  return out;
}

std::set<std::string> bases_in(const char* folder) {
  std::set<std::string> out;
  for (const std::string& name : names_in(folder))
    out.merge(bases_of(configs() / folder / (name + ".yaml")));
  return out;
}

// A device that is in no system would not be tested by any scenario. Requesters may stand in
// curves of copies instead, as several of them suit one system.
TEST(ShippedDevices, EachStandsInAShippedSystem) {
  std::set<std::string> used = bases_in("systems");
  used.merge(bases_in("bases"));
  used.merge(bases_in("devices"));
  for (const std::string& name : bases_of(configs() / "../reports/targets/hardware/copies.yaml"))
    if (name.starts_with("copy_engine_") || name.starts_with("sm_")) used.insert(name);
  // A collective is an alternative for any system: collective_curves_test and the map use them.
  for (const std::string& name : names_in("devices"))
    EXPECT_TRUE(used.contains(name) || name.starts_with("collective_")) << name;
}

// The GPU that a timed collective of the system was timed on; empty for another model.
std::set<std::string> timed_parts(const SystemConfig& system) {
  std::set<std::string> out;
  for (const auto& [purpose, fabric] : system.fabrics)
    if (const auto* timed = config_of<TimedCollectiveConfig>(*fabric.collective.spec))
      for (const auto& [kind, operation] : timed->operations.by_name)
        out.insert(operation.part.name);
  return out;
}

// Times of one card are no fit of another.
TEST(ShippedSystems, CollectivesOfAnotherCardAreAssumed) {
  const std::set<std::string> own_library{"mi300x",  "mi325x", "mi355x",    "mi455x",
                                          "tpu_v6e", "tpu_v7", "trainium2", "gaudi3"};
  std::size_t carried = 0;
  for (const std::string& name : names_in("systems")) {
    const auto system = shipped<SystemConfig>("systems", "system", name);
    const auto* gpu = config_of<RooflineGpuConfig>(*system.gpu.spec);
    ASSERT_NE(gpu, nullptr) << name;
    const std::set<std::string> timed = timed_parts(system);
    // "a100_80" was timed as "a100".
    const bool is_timed = std::ranges::any_of(
        timed, [&](const std::string& part) { return gpu->part.starts_with(part); });
    const bool is_carried = timed.empty() ? own_library.contains(gpu->part) : !is_timed;
    if (!is_carried) continue;
    ++carried;
    for (const SourcedNumber& number : list_numbers(system))
      if (number.path.starts_with("fabrics.")) {
        EXPECT_FALSE(number.number_class == NumberClass::fitted ||
                     number.number_class == NumberClass::measured)
            << name << ' ' << number.path;
      }
  }
  EXPECT_GE(carried, 10u);
}

double long_reads(const std::string& link) {
  return rate_of(*device<Link>(link), 64_MiB, 0_B, 1_MiB);
}

// Reads of long runs at an MPS of 256 B by the pcie-bench model, 1 %; Gen6 by its flits.
TEST(ShippedLinks, PcieReachesItsModel) {
  EXPECT_NEAR(long_reads("pcie_gen3_x16"), 13.183, 0.01 * 13.183);
  EXPECT_NEAR(long_reads("pcie_gen4_x16"), 26.365, 0.01 * 26.365);
  EXPECT_NEAR(long_reads("pcie_gen5_x16"), 52.73, 0.01 * 52.73);
  EXPECT_NEAR(long_reads("pcie_gen6_x16"), 118.0 * 256 / 268, 0.01 * 112.7);
}

// Measured within 6 %: Gen4 26.34 (copy engine), C2C 346, NVLink of H100 371 to 380 GB/s; CXL 5 %.
TEST(ShippedLinks, ReachWhatWasMeasured) {
  EXPECT_NEAR(long_reads("pcie_gen4_x16"), 26.34, 0.06 * 26.34);
  EXPECT_NEAR(long_reads("nvlink_c2c"), 346, 0.06 * 346);
  EXPECT_NEAR(long_reads("nvlink4_h100"), 376, 0.06 * 376);
  EXPECT_NEAR(long_reads("cxl_expander_link_gen5_x8"), 26.4, 0.05 * 26.4);
  EXPECT_NEAR(long_reads("cxl_port_gen6_x16"), 108, 0.05 * 108);
  EXPECT_NEAR(long_reads("cxl_expander_links_gen6_x8"), 54, 0.05 * 54);
}

// GB/s of reads, or of reads and writes in equal parts as in a copy.
double memory_rate(const std::string& name, bool copy) {
  const auto memory = device<MemoryTier>(name);
  std::vector<Bytes> busy(memory->channels().size());
  for (const Direction direction : {Direction::read, Direction::write})
    if (copy || direction == Direction::read)
      for (const Charge& charge : memory->cost(direction, 64_MiB, 64_MiB).charges)
        busy[charge.channel] += charge.busy;
  Duration longest{};
  for (std::size_t c = 0; c < busy.size(); ++c)
    longest = std::max(longest, busy[c] / memory->channels()[c].capacity);
  return (copy ? 2 : 1) * static_cast<double>((64_MiB).in_base()) / to_seconds(longest) / 1e9;
}

// A100 1800 GB/s read, H200 4300 and RTX 4090 921 GB/s copied; 5 %.
TEST(ShippedMemory, ReachesWhatWasMeasured) {
  EXPECT_NEAR(memory_rate("a100_80_hbm2e", false), 1800, 0.05 * 1800);
  EXPECT_NEAR(memory_rate("h200_hbm3e", true), 4300, 0.05 * 4300);
  EXPECT_NEAR(memory_rate("rtx4090_gddr6x", true), 921, 0.05 * 921);
}

// Random 8 B reads a second, measured in giga: H100 31.8, H200 36.2 to 39.1; 10 %.
TEST(ShippedMemory, RandomReadsMatchTheGupsTables) {
  const auto giga = [](const std::string& name) {
    const auto memory = device<MemoryTier>(name);
    const Bytes busy = memory->cost(Direction::read, 8_B * 1'000'000, 8_B).charges.front().busy;
    return 1e-3 / to_seconds(busy / memory->channels().front().capacity);
  };
  EXPECT_NEAR(giga("h100_hbm3"), 31.8, 0.10 * 31.8);
  EXPECT_NEAR(giga("h200_hbm3e"), 39.055, 0.10 * 39.055);
}

}  // namespace
}  // namespace tiersim::shipped_devices_test
