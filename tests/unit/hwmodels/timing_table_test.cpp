// Tables of timings: every mistake with its place, every rule of refusal by a planted row.
#include "hwmodels/calibrate/table/timing_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/config/describe.hpp"

namespace tiersim::timing_table_test {
namespace {

constexpr std::string_view kDescription =
    "schema: tiersim.timing_table/v1\n"
    "description: products\n"
    "time: {column: latency, unit: ms}\n"
    "labels: [type]\n"
    "sizes: [m, n, k]\n"
    "samples: [m]\n"
    "dtype: {column: type, names: {bfloat16: bf16}}\n"
    "values:\n"
    "  - {name: element, is: \"if(type == 'bfloat16', 2, 1)\"}\n"
    "memory_bytes: element * (m * k + n * k) + 2 * m * n\n"
    "flops: 2 * m * n * k\n"
    "refuse:\n"
    "  - {rule: untuned, where: \"type == 'old' and time > 1 ms\", why: of an old version}\n";

struct Described {
  TimingTableConfig config;
  std::string mistakes;
};
Described described(const std::string& text) {
  Diagnostics diagnostics;
  const Document document = load_text(text, "table.yaml", {}, diagnostics);
  auto config = read<TimingTableConfig>(document, "timing_table", diagnostics);
  return {std::move(config), diagnostics.text()};
}
TimingTableConfig description() {
  Described made = described(std::string(kDescription));
  EXPECT_EQ(made.mistakes, "");
  return made.config;
}
std::string with(std::string_view from, std::string_view to) {
  std::string text(kDescription);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string mistakes_in(const std::string& csv) {
  const auto table = read_timing_table("t.csv", csv, description(), 50e6);
  return table ? "" : table.error().text();
}

// A sample of m at n = k = 4096 with 1 us for each row, from 10 us.
std::string sample(const std::string& more = "", const std::string& type = "bfloat16") {
  std::string csv = "type,m,n,k,latency\n";
  for (const int m : {1, 2, 4, 8, 16, 32, 64})
    csv += fmt::format("{},{},4096,4096,{}\n", type, m, 0.010 + 0.001 * m);
  return csv + more;
}
const TableCeilings kCeilings{.memory = 4.8e12, .l2_bytes = 10e6, .flops = {{"bf16", 989e12}}};

TimingKernel checked(const std::string& csv, const TableCeilings& ceilings = kCeilings) {
  const TimingTableConfig config = description();
  auto read = read_timing_table("t.csv", csv, config, ceilings.l2_bytes);
  EXPECT_TRUE(read.has_value()) << read.error().text();
  if (!read) return {};
  TimingTable table = *std::move(read);
  check_timing_table(config, ceilings, table);
  EXPECT_EQ(table.kernels.size(), 1U);
  return table.kernels.front();
}
std::string refused_by(const TimingKernel& kernel) {
  std::string out;
  for (const auto& [rule, rows] : kernel.refused)
    out += fmt::format("{} {} at {}\n", rule, rows.count, rows.first.where);
  return out;
}

TEST(TimingTable, ComputesBytesAndFlopsByFormula) {
  const TimingKernel kernel = checked(sample());
  EXPECT_EQ(kernel.name, "bfloat16");
  EXPECT_EQ(kernel.dtype, "bf16");
  ASSERT_EQ(kernel.rows.size(), 7U);
  const TimingRow& row = kernel.rows[1];
  EXPECT_EQ(row.sizes, (std::vector<double>{2, 4096, 4096}));
  EXPECT_EQ(row.flops, 2. * 2 * 4096 * 4096);
  EXPECT_EQ(row.memory_bytes, 2. * (2 * 4096 + 4096. * 4096) + 2. * 2 * 4096);
  EXPECT_DOUBLE_EQ(row.seconds, 12e-6);
  EXPECT_EQ(refused_by(kernel), "");
}

TEST(TimingTable, MergesRepeatedRowsAndStatesTheirSpread) {
  const TimingKernel kernel =
      checked(sample("bfloat16,64,4096,4096,0.0777\nbfloat16,64,4096,4096,0.0703\n"));
  ASSERT_EQ(kernel.rows.size(), 7U);
  EXPECT_EQ(kernel.read, 9);
  EXPECT_EQ(kernel.rows.back().repeats, 3);
  EXPECT_DOUBLE_EQ(kernel.rows.back().seconds, 74e-6);
  EXPECT_NEAR(kernel.rows.back().spread, 0.1, 1e-12);
  const NoiseFloor noise = noise_floor(kernel);
  EXPECT_EQ(noise.cases, 1);
  EXPECT_NEAR(noise.median, 0.1, 1e-12);
}

// A file whose kernels have several forms has a description for each.
TEST(TimingTable, LeavesOutTheRowsOfAnotherDescription) {
  const Described some =
      described(with("values:", "rows: \"type in ['bfloat16', 'old'] and m < 4\"\nvalues:"));
  EXPECT_EQ(some.mistakes, "");
  const auto table =
      read_timing_table("t.csv", sample("other,1,4096,4096,0.02\n"), some.config, 50e6);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  ASSERT_EQ(table->kernels.size(), 1U);
  EXPECT_EQ(table->kernels.front().read, 2);
  EXPECT_TRUE(table->kernels.front().refused.empty());
  EXPECT_NE(described(with("values:", "rows: \"kind == 1\"\nvalues:")).mistakes.find("kind"),
            std::string::npos);
}

TEST(TimingTable, NamesEveryMistakeOfAFile) {
  EXPECT_EQ(mistakes_in("type,m,n,latency\n"),
            "t.csv:1:1: error: there is no column 'k' (columns: type, m, n, latency)\n");
  EXPECT_EQ(mistakes_in("type,m,n,k,latency,power\nbfloat16,1,2,3,4,5\n"),
            "t.csv:1:20: error: the description does not name the column 'power' (name it among "
            "labels, sizes or unused)\n");
  EXPECT_EQ(mistakes_in("type,m,n,k,latency\nbfloat16,one,2,3,4\nbfloat16,1,2,3,-4\n"),
            "t.csv:2:10: error: 'one' is no number of at least 0\n"
            "t.csv:3:16: error: '-4' is no number of at least 0\n");
  EXPECT_EQ(mistakes_in("type,m,n,k,latency\n"),
            "t.csv:1:1: error: no timing stands in this file\n");
  EXPECT_EQ(mistakes_in(""), "t.csv:1:1: error: this file is empty\n");
}

TEST(TimingTable, NamesEveryMistakeOfADescription) {
  EXPECT_NE(described(with("flops: 2 * m * n * k", "flops: 2 * m * n * q"))
                .mistakes.find("flops: uses 'q', which is no column"),
            std::string::npos);
  EXPECT_NE(described(with("flops: 2 * m * n * k", "flops: 2 * (m"))
                .mistakes.find("flops: is no formula"),
            std::string::npos);
  EXPECT_NE(described(with("sizes: [m, n, k]", "sizes: [m, n, k, type]"))
                .mistakes.find("sizes.3: names a column for the second time"),
            std::string::npos);
  EXPECT_NE(described(with("samples: [m]", "samples: [q]"))
                .mistakes.find("samples.0: is none of the sizes"),
            std::string::npos);
  EXPECT_NE(described(with("dtype: {column: type", "dtype: {column: m"))
                .mistakes.find("dtype.column: is none of the labels"),
            std::string::npos);
}

TEST(TimingTable, SplitsKernelsByFormulas) {
  const TimingTableConfig config =
      described(std::string(kDescription) + "split: [\"if(m > 8, 'large', 'small')\", n]\n").config;
  const auto table = read_timing_table("t.csv", sample(), config, 50e6);
  ASSERT_TRUE(table.has_value());
  ASSERT_EQ(table->kernels.size(), 2U);
  EXPECT_EQ(table->kernels[0].name, "bfloat16 large 4096");
  EXPECT_EQ(table->kernels[0].rows.size(), 3U);
  EXPECT_EQ(table->kernels[1].name, "bfloat16 small 4096");
}

TEST(TimingTable, GivesSizesThatAFileLacks) {
  const Described made = described(std::string(kDescription) + "absent: {k: 4096}\n");
  ASSERT_EQ(made.mistakes, "");
  const auto table =
      read_timing_table("t.csv", "type,m,n,latency\nbfloat16,1,512,0.02\n", made.config, 50e6);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  EXPECT_EQ(table->kernels[0].rows[0].sizes, (std::vector<double>{1, 512, 4096}));
  EXPECT_NE(described(std::string(kDescription) + "absent: {q: 1}\n")
                .mistakes.find("absent.q: is none of the sizes"),
            std::string::npos);
}

TEST(TimingTable, TakesSizesThatAreText) {
  const std::string text =
      std::string(kDescription) + "texts: [{column: k, names: {narrow: 256, wide: 4096}}]\n";
  const Described made = described(text);
  ASSERT_EQ(made.mistakes, "");
  const auto table = read_timing_table(
      "t.csv", "type,m,n,k,latency\nbfloat16,1,512,wide,0.02\nbfloat16,1,512,narrow,0.01\n",
      made.config, 50e6);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  ASSERT_EQ(table->kernels.size(), 1U);  // a size, not a label
  EXPECT_EQ(table->kernels[0].rows[0].sizes, (std::vector<double>{1, 512, 256}));
  EXPECT_EQ(table->kernels[0].rows[1].sizes, (std::vector<double>{1, 512, 4096}));
  EXPECT_EQ(table->kernels[0].rows[1].flops, 2. * 512 * 4096);
  EXPECT_EQ(read_timing_table("t.csv", "type,m,n,k,latency\nbfloat16,1,512,broad,0.02\n",
                              made.config, 50e6)
                .error()
                .text(),
            "t.csv:2:16: error: the description has no number for 'broad' (texts: narrow, wide)\n");
  EXPECT_NE(described(std::string(kDescription) + "texts: [{column: type, names: {a: 1}}]\n")
                .mistakes.find("texts.0.column: is none of the sizes"),
            std::string::npos);
}

TEST(TimingTable, TellsShapesApartByTheSizesThatAreNamed) {
  const auto shapes = [](const std::string& more) {
    const auto table = read_timing_table(
        "t.csv", "type,m,n,k,latency\nbfloat16,1,512,256,0.02\nbfloat16,1,512,128,0.02\n",
        described(std::string(kDescription) + more).config, 50e6);
    return table->kernels[0].rows[0].shape + "|" + table->kernels[0].rows[1].shape;
  };
  EXPECT_EQ(shapes(""), "n 512 k 128 |n 512 k 256 ");
  EXPECT_EQ(shapes("shapes: [n]\n"), "n 512 |n 512 ");
}

TEST(TimingTable, LeavesOutColumnsThatAreUnusedOrMissing) {
  const TimingTableConfig config =
      described(std::string(kDescription) + "unused: [version]\n").config;
  EXPECT_TRUE(read_timing_table("t.csv", "type,m,n,k,latency\na,1,2,3,4\n", config, 0));
  EXPECT_TRUE(read_timing_table("t.csv", "version,type,m,n,k,latency\n9,a,1,2,3,4\n", config, 0));
}

constexpr std::string_view kProductForm =
    "form:\n  name: product\n  family: gemm\n  sizes: {m: m, n: n, k: k, weight_bytes: element, "
    "input_bytes: element, quantises: type == 'fp8', copies: 0}\n";

TEST(TimingTable, GivesEachRowTheSizesOfItsForm) {
  const Described made = described(std::string(kDescription) + std::string(kProductForm));
  ASSERT_EQ(made.mistakes, "");
  const auto table = read_timing_table("t.csv", sample("fp8,1,512,256,0.02\n"), made.config, 50e6);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->kernels[0].rows[1].form_sizes, (std::vector<double>{2, 4096, 4096, 2, 2, 0, 0}));
  EXPECT_EQ(table->kernels[1].rows[0].form_sizes, (std::vector<double>{1, 512, 256, 1, 1, 1, 0}));
  // A shape is all sizes but the samples, so that its rows are held out together.
  EXPECT_EQ(table->kernels[0].rows[0].shape, table->kernels[0].rows[1].shape);
  EXPECT_NE(table->kernels[0].rows[0].shape, table->kernels[1].rows[0].shape);
}

TEST(TimingTable, NamesMistakesOfAForm) {
  const auto mistakes = [](std::string_view from, std::string_view to) {
    std::string form(kProductForm);
    form.replace(form.find(from), from.size(), to);
    return described(std::string(kDescription) + form).mistakes;
  };
  EXPECT_NE(
      mistakes("product", "produce")
          .find(
              "form.name: is no form (forms: batched_product, block_attention, causal_conv, "
              "collective, "
              "decode_attention, "
              "experts, indexed_attention, linear_scan, linear_update, prefill_attention, product"),
      std::string::npos)
      << mistakes("product", "produce");
  EXPECT_NE(mistakes("copies: 0", "copy: 0").find("lacks 'copies': Copies of the weights"),
            std::string::npos);
  EXPECT_NE(mistakes("copies: 0", "copies: 0, copy: 0").find("form.sizes.copy: is no size"),
            std::string::npos);
  EXPECT_NE(mistakes("  family: gemm\n", "").find("form.family: is missing (families: gemm, "),
            std::string::npos);
  EXPECT_NE(mistakes("m: m", "m: p").find("form.sizes.m: uses 'p'"), std::string::npos);
}

TEST(TimingTableRules, RefuseWhatTheDescriptionNames) {
  EXPECT_EQ(refused_by(checked("type,m,n,k,latency\nold,1,512,512,2\nold,2,512,512,0.5\n")),
            "untuned 1 at t.csv:2:1\n");
}

TEST(TimingTableRules, RefuseARateAboveThePeak) {
  // 2 * 8192^3 operations in 0.5 ms are 2200 TFLOP/s.
  EXPECT_EQ(refused_by(checked(sample("bfloat16,8192,8192,8192,0.5\n"))),
            "above the peak 1 at t.csv:9:1\n");
  // Elements taken for bytes, or seconds for milliseconds, end up here or in the next rules.
  EXPECT_EQ(refused_by(checked(sample("bfloat16,8192,8192,8192,0.0012\n"))),
            "above the peak 1 at t.csv:9:1\n");
}

TEST(TimingTableRules, RefuseARateAboveTheMemorysOnlyBeyondL2) {
  // 537 MB in 50 us are 10.7 TB/s.
  EXPECT_EQ(refused_by(checked(sample("bfloat16,1,16384,16384,0.05\n"))),
            "above the memory's rate 1 at t.csv:9:1\n");
  const TableCeilings large{.memory = 4.8e12, .l2_bytes = 400e6, .flops = {}};
  EXPECT_EQ(refused_by(checked(sample("bfloat16,1,16384,16384,0.05\n"), large)), "");
}

TEST(TimingTableRules, RefuseATimeThatNoLaunchTakes) {
  EXPECT_EQ(refused_by(checked(sample("bfloat16,1,512,512,0.0005\n"))),
            "no launch 1 at t.csv:9:1\n");
}

TEST(TimingTableRules, RefuseRowsThatTheHostLaunched) {
  std::string csv = "type,m,n,k,latency\n";
  for (int m = 1; m <= 60; ++m) csv += fmt::format("bfloat16,{},4096,4096,0.058\n", m);
  csv += "bfloat16,4096,4096,4096,0.4\n";
  EXPECT_EQ(refused_by(checked(csv)), "launched by the host 60 at t.csv:2:1\n");
}

// The same with a description that says more.
std::string refused_with(const std::string& more, const std::string& csv) {
  const Described made = described(std::string(kDescription) + more);
  EXPECT_EQ(made.mistakes, "");
  TimingTable table = *read_timing_table("t.csv", csv, made.config, kCeilings.l2_bytes);
  check_timing_table(made.config, kCeilings, table);
  return refused_by(table.kernels.front());
}

TEST(TimingTableRules, AllowForTheLaunchesOfARow) {
  std::string csv = "type,m,n,k,latency\n";
  for (int m = 1; m <= 60; ++m) csv += fmt::format("bfloat16,{},4096,4096,0.058\n", m);
  EXPECT_EQ(refused_with("launches: 2\n", csv), "");
  EXPECT_EQ(refused_with("launches: 1\n", csv), "launched by the host 60 at t.csv:2:1\n");
}

TEST(TimingTableRules, RefuseAShapeThatNeverComesNearTheMemorysRate) {
  // 34 MB in 100 us and 200 us are .07 and .03 of 4.8 TB/s; 134 MB in 60 us are .47.
  const std::string csv =
      "type,m,n,k,latency\nbfloat16,1,4096,4096,0.1\nbfloat16,2,4096,4096,0.2\n"
      "bfloat16,1,8192,8192,0.06\nbfloat16,8192,8192,8192,6\n";
  EXPECT_EQ(refused_with("untuned: {bytes: 3e7, share: 0.3}\n", csv), "untuned 2 at t.csv:2:1\n");
  EXPECT_EQ(refused_with("untuned: {bytes: 3e7, share: 0.05}\n", csv), "");
  EXPECT_EQ(refused_with("untuned: {bytes: 1e8, share: 0.3}\n", csv), "");  // does not stream
}

TEST(TimingTableRules, RefuseASplitThatIsSlowerThanLessSplit) {
  // n is the number of GPUs that share the work; 4 of them are slower than 1, 16 are not.
  const std::string csv =
      "type,m,n,k,latency\nbfloat16,1,1,4096,0.02\nbfloat16,1,2,4096,0.012\n"
      "bfloat16,1,4,4096,0.03\nbfloat16,1,16,4096,0.01\n";
  EXPECT_EQ(refused_with("splits: [n]\n", csv), "slower than with less split 1 at t.csv:4:1\n");
  EXPECT_EQ(refused_with("", csv), "");
}

TEST(TimingTableRules, RefuseADipBetweenLikeNeighbours) {
  EXPECT_EQ(refused_by(checked("type,m,n,k,latency\nbfloat16,1,4096,4096,0.02\n"
                               "bfloat16,2,4096,4096,0.012\nbfloat16,3,4096,4096,0.021\n")),
            "dip 1 at t.csv:3:1\n");
}

TEST(TimingTableRules, RefuseWhatIsSlowerThanMoreWork) {
  EXPECT_EQ(refused_by(checked(sample("bfloat16,24,4096,4096,0.5\n"))),
            "slower than more work 1 at t.csv:9:1\n");
}

}  // namespace
}  // namespace tiersim::timing_table_test
