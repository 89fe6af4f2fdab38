// Reports of nsys and nvbench by a description: which name of a kernel is which case.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/table/timing_table.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::profile_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Doubles = std::vector<double>;

std::string description(const std::string& format, const std::string& time,
                        const std::string& more) {
  return "schema: tiersim.timing_table/v1\ndescription: products\nformat: " + format +
         "\ntime: " + time +
         "\nlabels: [type]\nsizes: [m, n, k]\ndtype: {column: type}\n"
         "memory_bytes: 2 * (m * k + n * k + m * n)\nflops: 2 * m * n * k\n" +
         more;
}

struct Described {
  TimingTableConfig config;
  std::string mistakes;
};
Described described(const std::string& text) {
  Diagnostics diagnostics;
  const Document document = load_text(text, "d.yaml", {}, diagnostics);
  auto config = read<TimingTableConfig>(document, "timing_table", diagnostics);
  return {std::move(config), diagnostics.text()};
}

Expected<TimingTable, Diagnostics> read_by(const std::string& text, const std::string& csv) {
  const Described made = described(text);
  EXPECT_EQ(made.mistakes, "");
  return read_timing_table("r.csv", csv, made.config, 50e6);
}
std::string told(const std::string& text, const std::string& csv) {
  const auto table = read_by(text, csv);
  return table ? "" : table.error().text();
}

// As `nsys stats --report cuda_gpu_trace --format csv` prints it, with its talk.
const std::string kTrace =
    "\nNOTICE: Existing SQLite export found: r.sqlite\n"
    "Processing [r.sqlite] with [/opt/nsight/reports/cuda_gpu_trace.py]... \n"
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),"
    "DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
    "100,4000,11,8,1,1,128,1,1,40,0.000,0.025,,,,,H200 (0),1,,7,\"void mine<int, float*>(int)\"\n"
    "9000,4200,12,8,1,1,128,1,1,40,0.000,0.025,,,,,H200 (0),1,,7,\"void mine<int, float*>(int)\"\n"
    "20000,7000,13,16,1,1,128,1,1,40,0.000,0.025,,,,,H200 (0),1,,7,\"void mine<int, "
    "float*>(int)\"\n"
    "30000,900,14,,,,,,,,,,4.194,4194.3,Pageable,Device,H200 (0),1,,7,[CUDA memcpy HtoD]\n"
    "\nProcessing [r.sqlite] with [another.py]... \nTime (%),Name\n1,x\n";
const std::string kByGrid =
    "kernels:\n"
    "  - {name: \"void mine<int, float*>(int)\", where: \"GrdX == 8\", is: {type: bf16, m: 8, n: "
    "64, "
    "k: 32}}\n"
    "  - {matches: \"mine<\", is: {type: bf16, m: 16, n: 64, k: 32}}\n";
const std::string kTime = "{column: Duration (ns), unit: ns}";

TEST(ProfileTable, ReadsATraceOfNsysByNamesAndGrids) {
  const auto table = read_by(description("nsys", kTime, kByGrid), kTrace);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  ASSERT_EQ(table->kernels.size(), 1U);
  const TimingKernel& kernel = table->kernels[0];
  EXPECT_EQ(kernel.name, "bf16");
  ASSERT_EQ(kernel.rows.size(), 2U);
  EXPECT_EQ(kernel.rows[0].sizes, (Doubles{8, 64, 32}));
  EXPECT_DOUBLE_EQ(kernel.rows[0].seconds, 4.1e-6);  // the median of two launches
  EXPECT_EQ(kernel.rows[0].repeats, 2);
  EXPECT_EQ(kernel.rows[0].line, 5);
  EXPECT_EQ(kernel.rows[0].flops, 2 * 8 * 64 * 32);
  EXPECT_DOUBLE_EQ(kernel.rows[1].seconds, 7e-6);
  EXPECT_THAT(table->notes, ElementsAre("r.csv: 1 rows of 1 names follow no rule of 'kernels' and "
                                        "are left out: [CUDA memcpy HtoD]"));
}

// A summary has one row a kernel; `:nvtx-name` puts the name of a range before that of the kernel.
const std::string kSum =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    "60.0,80000,20,4000.0,3900.5,3800,4300,90.1,m=8 n=64 k=32:mine\n"
    "40.0,50000,10,5000.0,5000.0,4900,5100,50.0,m=16 n=64 k=32:mine\n";
const std::string kByRange =
    "kernels:\n"
    "  - {matches: \"m=([0-9]+) n=([0-9]+) k=([0-9]+):mine\", is: {type: bf16, m: $1, n: $2, k: "
    "$3}}\n";

TEST(ProfileTable, TakesSizesFromNamesOfRanges) {
  const auto table = read_by(description("nsys", "{column: Med (ns), unit: ns}", kByRange), kSum);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  const TimingKernel& kernel = table->kernels.at(0);
  ASSERT_EQ(kernel.rows.size(), 2U);
  EXPECT_EQ(kernel.rows[0].sizes, (Doubles{8, 64, 32}));
  EXPECT_DOUBLE_EQ(kernel.rows[0].seconds, 3.9005e-6);
  EXPECT_EQ(kernel.rows[1].sizes, (Doubles{16, 64, 32}));
  EXPECT_THAT(table->notes, IsEmpty());
}

// As a benchmark of nvbench prints it: an axis of powers of two has two columns, Noise and Samples
// stand twice, and a row that was not run is empty.
const std::string kNvbench =
    "Benchmark,Device,Device Name,T,m (pow2),m,n,k,Skipped,Samples,CPU Time (sec),Noise,"
    "GPU Time (sec),Noise,Elem/s (elem/sec),GlobalMem BW (bytes/sec),BWUtil,Samples,"
    "Batch GPU (sec)\n"
    "mine,0,NVIDIA H200,bf16,2^3,8,64,32,No,4096,9.1e-06,0.05,4.0e-06,0.02,1e9,2e12,0.5,8192,"
    "3.9e-06\n"
    "mine,0,NVIDIA H200,bf16,2^4,16,64,32,Yes,,,,,,,,,,\n"
    "other,0,NVIDIA H200,bf16,2^3,8,64,32,No,4096,9.1e-06,0.05,9e-06,0.02,1e9,2e12,0.5,8192,"
    "3.9e-06\n";
const std::string kAxes = "kernels: [{name: mine, is: {type: bf16}}]\nunused: [T]\n";
const std::string kGpuTime = "{column: GPU Time (sec), unit: s}";

TEST(ProfileTable, ReadsNvbenchByItsAxes) {
  const auto table = read_by(description("nvbench", kGpuTime, kAxes), kNvbench);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  ASSERT_EQ(table->kernels.size(), 1U);
  ASSERT_EQ(table->kernels[0].rows.size(), 1U);
  EXPECT_EQ(table->kernels[0].rows[0].sizes, (Doubles{8, 64, 32}));
  EXPECT_DOUBLE_EQ(table->kernels[0].rows[0].seconds, 4e-6);
  EXPECT_THAT(table->notes,
              ElementsAre("r.csv: 1 rows of 1 names follow no rule of 'kernels' and are left out: "
                          "other",
                          "r.csv: 1 skipped rows are left out"));
}

TEST(ProfileTable, NamesAnAxisThatTheDescriptionForgets) {
  EXPECT_EQ(told(description("nvbench", kGpuTime, "kernels: [{name: mine, is: {type: bf16}}]\n"),
                 kNvbench),
            "r.csv:1:30: error: the description does not name the column 'T' (name it among "
            "labels, sizes or unused)\n");
}

TEST(ProfileTable, RefusesTwoDevicesInOneFile) {
  std::string two = kTrace;
  two.replace(two.find("H200 (0),1,,7,\"void mine<int, float*>(int)\"\n9000"), 8, "H100 (1)");
  EXPECT_EQ(told(description("nsys", kTime, kByGrid), two),
            "r.csv:6:47: error: this row is of 'H200 (0)', the rows before of 'H100 (1)' (one file "
            "for each device)\n"
            "r.csv:7:49: error: this row is of 'H200 (0)', the rows before of 'H100 (1)' (one file "
            "for each device)\n");
}

TEST(ProfileTable, SaysWhatNoRuleFinds) {
  const std::string none = "kernels: [{name: yours, is: {type: bf16, m: 8, n: 64, k: 32}}]\n";
  EXPECT_EQ(told(description("nsys", kTime, none), kTrace),
            "r.csv:4:1: error: no row follows a rule of 'kernels' (names: [CUDA memcpy HtoD], void "
            "mine<int, float*>(int))\n");
  const auto unused_rule =
      read_by(description("nsys", kTime,
                          kByGrid + "  - {name: yours, is: {type: bf16, m: 8, n: 64, k: 32}}\n"),
              kTrace);
  ASSERT_TRUE(unused_rule.has_value());
  EXPECT_THAT(unused_rule->notes, ::testing::Contains("r.csv: no row follows the rule 'yours'"));
  EXPECT_EQ(told(description("nsys", "{column: Med (ns), unit: ns}", kByGrid), kTrace),
            "r.csv:1:1: error: no line has the column 'Med (ns)'\n");
  EXPECT_EQ(told(description("nsys", kTime, kByGrid), ""),
            "r.csv:1:1: error: this file is empty\n");
}

// A search that tries one way after the other would take 2^200 steps for the first pattern, and
// 200^5 for the second one.
TEST(ProfileTable, SearchesALongNameByAnyPattern) {
  const std::string csv =
      "Med (ns),Name\n4000," + std::string(200, '1') + "\n5000,11 m=8 n=64 k=32\n";
  for (const std::string pattern : {"(([0-9]+)+)+ m=([0-9]+)", "()().*.*.*.* m=([0-9]+)"}) {
    SCOPED_TRACE(pattern);
    const auto table = read_by(description("nsys", "{column: Med (ns), unit: ns}",
                                           "kernels: [{matches: \"" + pattern +
                                               "\", is: {type: bf16, m: $3, n: 64, k: 32}}]\n"),
                               csv);
    ASSERT_TRUE(table.has_value()) << table.error().text();
    ASSERT_EQ(table->kernels.at(0).rows.size(), 1U);
    EXPECT_EQ(table->kernels[0].rows[0].sizes, (Doubles{8, 64, 32}));
  }
}

TEST(ProfileTable, NamesAColumnThatNoFileOfTheFormatHas) {
  EXPECT_THAT(
      told(description("nsys", kTime,
                       "kernels: [{matches: mine, where: GridX == 8, is: {type: bf16, m: 8, n: 64, "
                       "k: 32}}]\n"),
           kTrace),
      HasSubstr("r.csv:4:1: error: there is no column 'GridX', which kernels.0.where names "
                "(columns: Start (ns), "));
}

TEST(ProfileTable, NamesMistakesOfRules) {
  const auto mistakes = [](const std::string& rules, const std::string& time = kTime) {
    return described(description("nsys", time, "kernels: [" + rules + "]\n")).mistakes;
  };
  EXPECT_THAT(mistakes("{is: {m: 1}}"),
              HasSubstr("kernels.0: has neither or both of 'name' and 'matches'"));
  EXPECT_THAT(mistakes("{matches: \"(\", is: {m: 1}}"),
              HasSubstr("kernels.0.matches: is no regular expression: "));
  EXPECT_THAT(mistakes("{matches: \"" + std::string(100'000, '(') + "\", is: {m: 1}}"),
              HasSubstr("kernels.0.matches: is no regular expression: it is longer than 1000 "
                        "characters"));
  EXPECT_THAT(mistakes("{matches: \"((a?){2,11}){3}b\", is: {m: 1}}"),
              HasSubstr("kernels.0.matches: is no regular expression: its counts in braces repeat "
                        "more than 32 times"));
  EXPECT_THAT(mistakes("{matches: \"(a)b\", is: {m: $2}}"),
              HasSubstr("kernels.0.is.m: names a group that 'matches' has not; it has 1"));
  EXPECT_THAT(mistakes("{name: a, is: {q: 1}}"),
              HasSubstr("kernels.0.is.q: is none of the labels and sizes"));
  EXPECT_THAT(mistakes("{name: a, where: \"GrdX ==\", is: {m: 1}}"),
              HasSubstr("kernels.0.where: is no formula: "));
  EXPECT_THAT(mistakes("{name: a, is: {m: 1}}", "{column: Duration (ns), unit: us}"),
              HasSubstr("time.unit: is us, but the column is 'Duration (ns)'"));
  EXPECT_THAT(
      described(description("csv", "{column: t, unit: us}", "kernels: [{name: a, is: {m: 1}}]\n"))
          .mistakes,
      HasSubstr("names: is missing (the column with the names that 'kernels' has rules for)"));
}

}  // namespace
}  // namespace tiersim::profile_table_test
