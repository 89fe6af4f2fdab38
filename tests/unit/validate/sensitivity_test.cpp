#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/config/describe.hpp"
#include "sim/validate/sensitivity.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::sensitivity_test {
namespace {

// One curve of a memory of 100 ns, 100 GB/s and no queue, and one number more in a list.
SensitivityConfig config_of(const std::string& curve, const std::string& cases,
                            const std::string& more = "") {
  Diagnostics diagnostics;
  const Document document = load_text(
      "schema: tiersim.sensitivity/v1\ntitle: One\nlevels: {title: None, hbm: {base: "
      "devices/h100_hbm3.yaml}}\ncurves:\n  - curves:\n      - id: one\n        title: One\n"
      "        group: memory\n        kind: model\n        source: nowhere\n        band: 0.1\n"
      "        held: [flow]\n        memory: {base: devices/h100_hbm3.yaml, peak: 100 GB/s, "
      "read_efficiency: 0.9, row_time: 0 ns, latency: 100 ns}\n        " +
          curve + "\ndevices:\n  - name: it\n    title: It\n    cases: [" + cases + "]\n" + more,
      testing::configs() / "one.yaml", {.config_root = testing::configs()}, diagnostics);
  auto config = read<SensitivityConfig>(document, "sensitivity", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return config;
}

const std::string kLatency = "quantity: latency\n        points: [{run: 32 B, reference: 100}]";
const std::string kReads = "quantity: bandwidth\n        points: [{run: 4 KiB, reference: 90}]";
const std::string kCase = "{curve: one, at: memory, levels: [flow]}";

std::vector<SensitivityAnswer> unchanged(SensitivityStudy& study) {
  std::vector<SensitivityAnswer> base;
  for (std::size_t q = 0; q < study.questions(0).size(); ++q) base.push_back(study.answer(0, q));
  return base;
}

ParameterSensitivity of(SensitivityConfig config, const std::string& path) {
  SensitivityStudy study(config);
  return study.sensitivity_of(0, path, unchanged(study));
}

TEST(SensitivityStudy, ALatencyMovesAsItsOwnNumberAndLeavesItsBand) {
  const ParameterSensitivity row = of(config_of(kLatency, kCase), "latency");
  EXPECT_EQ(row.verdict, SensitivityVerdict::fails);
  EXPECT_EQ(row.value, "0.1 us");
  ASSERT_TRUE(row.more.moved && row.less.moved);
  EXPECT_NEAR(*row.more.moved, 0.2, 1e-9);
  EXPECT_NEAR(*row.less.moved, -0.2, 1e-9);
  EXPECT_TRUE(row.more.fails);
  EXPECT_TRUE(row.less.fails);
  EXPECT_EQ(row.failing, 2);
}

TEST(SensitivityStudy, WhatAnAnswerDoesNotDependOnIsInsensitiveForTheReasonOfTheFile) {
  const std::string reasons =
      "reasons:\n  - {parameter: pe, why: some}\n  - {parameter: peak, why: rate}\n"
      "  - {device: other, parameter: peak, why: not this}\n";
  const ParameterSensitivity row = of(config_of(kLatency, kCase, reasons), "peak");
  EXPECT_EQ(row.verdict, SensitivityVerdict::insensitive);
  EXPECT_DOUBLE_EQ(row.most(), 0);
  EXPECT_EQ(row.why, "rate");
}

// Reads have .9 of 100 GB/s; a share is at most 1, which is 1 / .9 of it. A chunk of 256 B takes
// whole bytes of the bus: up to 1 in 256 more.
TEST(SensitivityStudy, AShareIsRaisedToOne) {
  const ParameterSensitivity row = of(config_of(kReads, kCase), "read_efficiency");
  EXPECT_NEAR(row.more.factor, 1 / 0.9, 1e-9);
  EXPECT_NEAR(*row.more.moved, 1 / 0.9 - 1, 1.0 / 256);
  EXPECT_NEAR(*row.less.moved, -0.2, 1.0 / 256);
}

TEST(SensitivityStudy, WithinTheBandAnAnswerOnlyMoves) {
  SensitivityConfig config = config_of(kLatency, kCase);
  config.curves[0].curves[0].facts.band = 0.21;
  const ParameterSensitivity row = of(std::move(config), "latency");
  EXPECT_EQ(row.verdict, SensitivityVerdict::moves);
  EXPECT_EQ(row.failing, 0);
}

TEST(SensitivityStudy, ZeroHasNoShareAndIsNotChanged) {
  const ParameterSensitivity row = of(config_of(kLatency, kCase), "row_time");
  EXPECT_EQ(row.verdict, SensitivityVerdict::not_changed);
  EXPECT_NE(row.more.refused.find("0"), std::string::npos);
}

TEST(SensitivityStudy, PutsEveryNumberBack) {
  SensitivityConfig config = config_of(kLatency, kCase);
  const std::string before = canonical_json(config);
  SensitivityStudy study(config);
  const std::vector<SensitivityAnswer> base = unchanged(study);
  for (const std::string& path : study.parameters(0)) study.sensitivity_of(0, path, base);
  EXPECT_EQ(canonical_json(config), before);
}

// A granule of a power of two is doubled and halved.
TEST(SensitivityStudy, AGranuleTakesTheNextPowerOfTwo) {
  const ParameterSensitivity row = of(config_of(kReads, kCase), "atom");
  EXPECT_DOUBLE_EQ(row.more.factor, 2);
  EXPECT_DOUBLE_EQ(row.less.factor, 0.5);
}

TEST(DeviceNumber, CountsMoveByOneAtLeastAndListedOnesToTheNext) {
  std::int64_t two = 2;
  const DeviceNumber count("n", detail::ScalarValue(&two), in_range(1, 100));
  EXPECT_EQ(count.near(1.2).front(), 3);
  EXPECT_EQ(count.near(0.8).front(), 1);
  std::int64_t lanes = 8;
  const DeviceNumber listed("n", detail::ScalarValue(&lanes), one_of({1, 2, 4, 8, 16}));
  EXPECT_EQ(listed.near(1.2), std::vector<double>{16});
  EXPECT_EQ(listed.near(0.8), (std::vector<double>{4, 2, 1}));
  std::int64_t most = 100;
  const DeviceNumber top("n", detail::ScalarValue(&most), in_range(1, 100));
  EXPECT_TRUE(top.near(1.2).empty());
}

SensitivityConfig shipped() {
  Diagnostics diagnostics;
  const Document document = load_document(
      std::filesystem::path(TIERSIM_SOURCE_DIR) / "reports/targets/sensitivity/h100_node.yaml",
      {.config_root = testing::configs()}, diagnostics);
  auto config = read<SensitivityConfig>(document, "sensitivity", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return config;
}

bool is_no_time(const std::string& path) {
  return path.starts_with("energy_per_") || path.starts_with("price") || path.ends_with("power") ||
         path == "power_exponent" || path == "least_clock";
}

// The numbers have no list by hand: a new one must be included automatically.
TEST(SensitivityOfTheShippedNode, HasEveryNumberWithASourceButEnergyPowerAndPrices) {
  SensitivityConfig config = shipped();
  EXPECT_EQ(unknown_workloads(config), std::vector<std::string>{});
  const std::vector<SourcedNumber> all = list_numbers(config);
  SensitivityStudy study(config);
  std::size_t held = 0;
  for (std::size_t d = 0; d < config.devices.size(); ++d) {
    const std::vector<std::string> paths = study.parameters(d);
    for (const SensitivityQuestion& question : study.questions(d))
      for (const SourcedNumber& number : all) {
        if (!number.path.starts_with(question.place)) continue;
        const std::string path = number.path.substr(question.place.size());
        ++held;
        EXPECT_NE(is_no_time(path), std::ranges::find(paths, path) != paths.end())
            << config.devices[d].name << ' ' << path;
      }
  }
  EXPECT_GT(held, 1000U);
}

TEST(SensitivityConfig, SaysWhichCaseIsNone) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "schema: tiersim.sensitivity/v1\ntitle: One\ncurves: []\nlevels: {title: None, hbm: {base: "
      "devices/h100_hbm3.yaml}}\ndevices: [{name: it, title: It, cases: [{curve: nothing, at: "
      "memory}, {at: hbm}, {workload: hbm.stream, at: memory}]}]\n",
      testing::configs() / "one.yaml", {.config_root = testing::configs()}, diagnostics);
  read<SensitivityConfig>(document, "sensitivity", diagnostics);
  EXPECT_NE(diagnostics.text().find("is in none of the curves"), std::string::npos);
  EXPECT_NE(diagnostics.text().find("asks not one thing"), std::string::npos);
  EXPECT_NE(diagnostics.text().find("is no device of the workloads"), std::string::npos);
}

}  // namespace
}  // namespace tiersim::sensitivity_test
