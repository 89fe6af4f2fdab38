// Collectives of a node: limits that can be counted by hand, planted truth that a fit must find
// again, and a table whose bytes are taken for elements.
#include "hwmodels/forms/collective_form.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/calibrate/table/timing_table.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::collective_form_test {
namespace {

const GpuSheet kGpu{.port = 400e9};

// Start, hop and share of the port of three protocols; sharp, with hops and rates as in a ring.
const std::vector<double> kTruth{4e-6, 2e-7, 0.2, 8e-6, 5e-7, 0.5, 2e-5, 1e-6, 0.8, 3, 1, 1, 1};

double time_of(const CollectiveCase& c, std::string_view variant = "flags") {
  const auto names = collective_form().variants();
  const auto at = std::ranges::find(names, variant);
  EXPECT_NE(at, names.end()) << variant;
  return collective_form().physics(c.sizes(), kGpu, kTruth,
                                   static_cast<std::size_t>(at - names.begin()));
}

std::vector<FormTiming> planted(std::string_view variant = "flags") {
  std::vector<FormTiming> rows;
  for (const double ranks : {2., 4., 8.})
    for (int power = 8; power < 30; ++power) {
      const CollectiveCase c{.ranks = ranks, .bytes = std::ldexp(1, power), .passes = 2};
      rows.push_back(
          {c.sizes(), fmt::format("{}", power), time_of(c, variant), fmt::format("{}", ranks)});
    }
  return rows;
}

TEST(CollectiveForm, TakesItsFloorForFewBytes) {
  // 4 us and 7 hops of 0.2 us; 9.4 and 11.5 us of the other two lower the smooth minimum by 0.2 %.
  EXPECT_NEAR(time_of({.ranks = 8, .bytes = 16}), 5.4e-6, 0.01 * 5.4e-6);
}

TEST(CollectiveForm, TakesTheTimeOfItsBytesWhereTheyAreMany) {
  // 2 * 7 / 8 of 8 GB at 0.8 * 400 GB/s are 43.75 ms, and half of it for a single pass.
  EXPECT_NEAR(time_of({.ranks = 8, .bytes = 8e9, .passes = 2}), 43.75e-3, 0.01 * 43.75e-3);
  EXPECT_NEAR(time_of({.ranks = 8, .bytes = 8e9, .passes = 1}), 21.875e-3, 0.01 * 21.875e-3);
}

TEST(CollectiveForm, OneShotSendsTheWholeBufferToEveryPeer) {
  // 7 * 64 KiB instead of twice 2 * 7 / 8 * 64 KiB, at 80 GB/s: both are slower than two shots.
  const CollectiveCase c{.ranks = 8, .bytes = 65536, .passes = 2};
  EXPECT_GT(time_of(c, "one shot"), time_of(c, "flags"));
  // For two ranks it sends half of what goes with flags.
  const CollectiveCase pair{.ranks = 2, .bytes = 65536, .passes = 2};
  EXPECT_LT(time_of(pair, "one shot"), time_of(pair, "flags"));
}

TEST(CollectiveForm, ALibraryGoesOverToTheLargeProtocolWhereItsVariantSays) {
  const std::string_view variant = "flags, large from 1024 KiB";
  const CollectiveCase below{.ranks = 2, .bytes = 1048575, .passes = 2};
  const CollectiveCase above{.ranks = 2, .bytes = 1048576, .passes = 2};
  EXPECT_LT(time_of(below, variant), 1.05 * time_of(below));
  EXPECT_NEAR(time_of(above, variant), 2e-5 + 1e-6 + 1048576 / 320e9, 1e-12);
  // Counted for each of two ranks, eight go over at four times the size.
  const CollectiveCase eight{.ranks = 8, .bytes = 2097152, .passes = 2};
  EXPECT_LT(time_of(eight, "flags, large from 1024 KiB for each of two ranks"),
            time_of(eight, variant));
}

TEST(CollectiveForm, IsNoFasterForMoreBytes) {
  for (const double ranks : {2., 3., 8.})
    for (double bytes = 256; bytes < 1e9; bytes *= 2)
      EXPECT_LE(time_of({.ranks = ranks, .bytes = bytes}),
                time_of({.ranks = ranks, .bytes = 2 * bytes}));
}

TEST(CollectiveForm, AFitFindsPlantedTimesOfSizesAndRanksThatItDidNotSee) {
  const FormFit fit = fit_form(collective_form(), planted(), kGpu);
  EXPECT_EQ(collective_form().variants()[fit.model.variant], "flags");
  EXPECT_LT(fit.unseen.median, 0.01);
  EXPECT_LT(fit.unseen.p90, 0.05);
  EXPECT_EQ(fit.groups.rows, 66);  // each number of ranks by a fit to the other two
  EXPECT_LT(fit.groups.median, 0.05);
}

TEST(CollectiveForm, AFitFindsTheSwitchOfALibrary) {
  const std::string_view variant = "flags, large from 1024 KiB";
  const FormFit fit = fit_form(collective_form(), planted(variant), kGpu);
  EXPECT_EQ(collective_form().variants()[fit.model.variant], variant);
  EXPECT_LT(fit.unseen.median, 0.01);
}

TEST(CollectiveForm, IsWrittenByOperation) {
  const FormFit fit = fit_form(collective_form(), planted(), kGpu);
  const std::string text = timed_collectives_yaml("tiersim", "made/up-1", "made",
                                                  {{.kernel = "ring",
                                                    .family = "",
                                                    .arithmetic = "bf16",
                                                    .source = "here",
                                                    .fit = &fit,
                                                    .sheet = kGpu,
                                                    .operation = "all_reduce"}});
  EXPECT_TRUE(text.starts_with(
      "# Written by `tiersim`.\nschema: tiersim.device/v1\ntimed_collectives:\n"
      "  all_reduce: {form: collective, variant: \"flags\", kernel: \"ring\", from: "
      "\"made/up-1\", part: {name: made, port: 400 GB/s}, parameters: {t0: "))
      << text;
}

constexpr std::string_view kDescription =
    "schema: tiersim.timing_table/v1\n"
    "description: collectives\n"
    "time: {column: latency, unit: us}\n"
    "labels: [op, type]\n"
    "sizes: [ranks, elements]\n"
    "samples: [elements]\n"
    "shapes: [elements]\n"
    "groups: [ranks]\n"
    "dtype: {column: type}\n"
    "values:\n"
    "  - {name: bytes, is: 2 * elements}\n"
    "operation: op\n"
    "port_bytes: bytes\n"
    "form: {name: collective, sizes: {ranks: ranks, bytes: bytes, passes: \"2\"}}\n";

TimingTableConfig described(std::string text, std::string* mistakes) {
  Diagnostics diagnostics;
  const Document document = load_text(std::move(text), "table.yaml", {}, diagnostics);
  auto config = read<TimingTableConfig>(document, "timing_table", diagnostics);
  *mistakes = diagnostics.text();
  return config;
}

TimingKernel checked(double bytes_of_an_element) {
  std::string mistakes;
  const TimingTableConfig config = described(std::string(kDescription), &mistakes);
  EXPECT_EQ(mistakes, "");
  std::string csv = "op,type,ranks,elements,latency\n";
  for (const FormTiming& row : planted())
    csv += fmt::format("all_reduce,half,{},{},{}\n", row.sizes[0],
                       row.sizes[1] / bytes_of_an_element, 1e6 * row.seconds);
  auto read = read_timing_table("t.csv", csv, config, 0);
  EXPECT_TRUE(read.has_value());
  if (!read) return {};
  TimingTable table = *std::move(read);
  TableCeilings ceilings;
  ceilings.port = kGpu.port;
  check_timing_table(config, ceilings, table);
  EXPECT_EQ(table.kernels.size(), 1U);
  return table.kernels.front();
}

TEST(CollectiveTable, NeedsNoFlops) {
  const TimingKernel kernel = checked(2);
  EXPECT_EQ(kernel.operation, "all_reduce");
  EXPECT_EQ(kernel.rows.size(), 66U);
  EXPECT_TRUE(kernel.refused.empty());
  EXPECT_EQ(kernel.rows.front().port_bytes, 256);
  EXPECT_EQ(kernel.rows.front().shape, "elements 128 ");
  EXPECT_EQ(kernel.rows.front().group, "ranks 2 ");
}

TEST(CollectiveTable, RefusesBytesThatAreTakenForElements) {
  const TimingKernel kernel = checked(1);
  ASSERT_EQ(kernel.refused.size(), 1U);
  EXPECT_EQ(kernel.refused.begin()->first, "above the port's rate");
  EXPECT_GE(kernel.refused.begin()->second.count, 6);  // two ranks, from 16 MiB
}

TEST(CollectiveTable, NamesEveryMistakeOfItsDescription) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text(kDescription);
    text.replace(text.find(from), from.size(), to);
    std::string mistakes;
    described(text, &mistakes);
    return mistakes;
  };
  EXPECT_NE(with("port_bytes: bytes\n", "").find("port_bytes: is empty"), std::string::npos);
  EXPECT_NE(with("operation: op\n", "").find("port_bytes: is of a collective"), std::string::npos);
  EXPECT_NE(with("operation: op\n", "operation: op\nflops: bytes\n")
                .find("operation: is of a collective, which has port_bytes alone"),
            std::string::npos);
  EXPECT_NE(with("operation: op\nport_bytes: bytes\n", "").find("memory_bytes: is empty"),
            std::string::npos);
  EXPECT_NE(with("groups: [ranks]", "groups: [rank]").find("groups.0: is none of the sizes"),
            std::string::npos);
}

TEST(CollectiveTable, AKernelHasOneOperation) {
  std::string mistakes;
  std::string text(kDescription);
  text.replace(text.find("operation: op"), 13, "operation: \"if(ranks > 2, 'all_gather', op)\"");
  const TimingTableConfig config = described(text, &mistakes);
  ASSERT_EQ(mistakes, "");
  const auto table = read_timing_table(
      "t.csv", "op,type,ranks,elements,latency\nall_reduce,half,2,8,5\nall_reduce,half,4,8,5\n",
      config, 0);
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().text(),
            "t.csv:3:1: error: is of operation 'all_gather', but 'all_reduce half' is of "
            "'all_reduce' before (split the table by it)\n");
}

}  // namespace
}  // namespace tiersim::collective_form_test
