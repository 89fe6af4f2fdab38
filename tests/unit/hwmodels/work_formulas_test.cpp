// Bytes and FLOPs against sizes, of files as users write them. tests/kernels/resources compares the
// formulas with every case of kernels/.
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/read/work_formulas.hpp"
#include "sim/expression/expression.hpp"
#include "tests/unit/hwmodels/timing_texts.hpp"

namespace tiersim::work_formulas_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read;

// The refusals by their sizes alone.
std::vector<std::string> against_sizes(const TimingSet& set) {
  std::vector<std::string> out;
  for (const TimingRefusal& refusal : check_timings(set).refused)
    if (refusal.rule.ends_with("against sizes") || refusal.rule == "elements for bytes")
      out.push_back(text(refusal));
  return out;
}

// Decode attention without splits. Keys and values of 128 numbers of 2 bytes for each row, queries
// and outputs of 2 bytes, a length of 4; 4 FLOP for each number of a row and query head.
struct Decode {
  std::int64_t batch;
  std::int64_t context;
  double bytes() const {
    const auto rows = static_cast<double>(batch * 32);
    return 2 * 2 * 128 * rows * static_cast<double>(context) + 2 * 2 * 128 * rows +
           4 * static_cast<double>(batch);
  }
  double flops() const { return 4.0 * 128 * static_cast<double>(batch * 32 * context); }
};
constexpr std::array<Decode, 3> kDecodes{{{16, 1024}, {16, 2048}, {32, 4096}}};

std::string decodes(double bytes_by, double flops_by_of_second = 1) {
  std::string out =
      "kernel,variant,dtype,temperature,shape.batch,shape.context,shape.kv_heads,shape.group,"
      "shape.head_dim,shape.splits,memory_bytes,flops,time_us\n";
  for (const Decode& decode : kDecodes) {
    const double by = &decode == &kDecodes[1] ? flops_by_of_second : 1;
    out += fmt::format("dense_decode,fma,bf16,cold,{},{},32,1,128,1,{:.0f},{:.0f},{:.3f}\n",
                       decode.batch, decode.context, bytes_by * decode.bytes(), by * decode.flops(),
                       decode.bytes() / 4e6);
  }
  return out;
}

TEST(WorkFormulas, AllParseAndNameWhatACaseHas) {
  EXPECT_GT(work_formulas().size(), 40U);
  for (const WorkFormula& formula : work_formulas()) {
    std::vector<std::string_view> texts{formula.link_read_bytes, formula.link_write_bytes,
                                        formula.flops};
    for (const auto& [name, is] : formula.values) texts.push_back(is);
    for (const std::string_view bytes : formula.memory_bytes) texts.push_back(bytes);
    if (!formula.memory_most.empty()) texts.push_back(formula.memory_most);
    for (const std::string_view each : texts)
      EXPECT_TRUE(Expression::parse(std::string(each)).has_value()) << formula.name << ": " << each;
  }
}

TEST(WorkFormulas, AcceptTheWorkThatSizesGive) {
  EXPECT_THAT(against_sizes(read(decodes(1))), IsEmpty());
  EXPECT_THAT(check_timings(read(decodes(1))).notes, IsEmpty());
}

TEST(WorkFormulas, RefuseHalvedBytesOfAWholeFile) {
  const std::vector<std::string> told = against_sizes(read(decodes(0.5)));
  ASSERT_EQ(told.size(), kDecodes.size());
  EXPECT_THAT(told[0], HasSubstr("f:2:47: error: dense_decode.fma.bf16.batch16"));
  EXPECT_THAT(told[0],
              HasSubstr(": elements for bytes: memory_bytes is 134348832, but its sizes (bf16, "
                        "batch 16, context 1024, group 1, head_dim 128, kv_heads 32, splits 1) "
                        "give 268697664 B: 0.5 times that"));
  EXPECT_THAT(told[2], HasSubstr("f:4:47: error: "));
}

TEST(WorkFormulas, RefuseBytesThatAreOffByAFactorOfNoUnit) {
  EXPECT_THAT(against_sizes(read(decodes(1.073))),
              ElementsAre(HasSubstr(": bytes against sizes: "), HasSubstr(": 1.073 times that"),
                          HasSubstr(": bytes against sizes: ")));
}

TEST(WorkFormulas, RefuseHalvedFlopsOfOneRow) {
  EXPECT_THAT(against_sizes(read(decodes(1, 0.5))),
              ElementsAre(HasSubstr("FLOPs against sizes: flops is 268435456, but its sizes (bf16, "
                                    "batch 16, context 2048, group 1, head_dim 128, kv_heads 32, "
                                    "splits 1) give 536870912 FLOP: 0.5 times that")));
}

// A product of a user, by its family: 2 (16 * 512 + 1024 * 512 + 16 * 1024) B, 2 * 16 * 1024 * 512
// FLOP.
std::string products(const std::string& work, const std::string& setting = "family.gemm: mine") {
  return "# " + setting +
         "\nkernel,dtype,temperature,shape.m,shape.n,shape.k,memory_bytes,flops,time_us\n"
         "mine,bf16,cold,16,1024,512," +
         work + ",5\n";
}

TEST(WorkFormulas, HoldKernelsOfAUserToTheirFamily) {
  EXPECT_THAT(against_sizes(read(products("1097728,16777216"))), IsEmpty());
  EXPECT_THAT(against_sizes(read(products("1130496,16777216"))), IsEmpty());   // fp32 outputs
  EXPECT_THAT(against_sizes(read(products("1097728,134217728"))), IsEmpty());  // tiles of 128 rows
  EXPECT_THAT(against_sizes(read(products("548864,16777216"))),
              ElementsAre(HasSubstr("f:3:28: error: ")));
  EXPECT_THAT(against_sizes(read(products("1177862,16777216"))),
              ElementsAre(HasSubstr("give 1097728 B: 1.073 times that")));
  EXPECT_THAT(against_sizes(read(products("1097728,8388608"))),
              ElementsAre(HasSubstr("give 16777216 FLOP: 0.5 times that")));
}

TEST(WorkFormulas, AllowAttentionOfAUserWhatLiesAroundItsCache) {
  // A cache of 2 * 2 * 8 * 8 * 4096 * 128 B = 134217728; queries and outputs are 64 * 8 rows.
  const auto attention = [](const std::string& work) {
    return against_sizes(
        read("# family.grouped_attention: mine\nkernel,dtype,temperature,shape.batch,shape.heads,"
             "shape.kv_heads,shape.context,shape.head_dim,memory_bytes,flops,time_us\n"
             "mine,bf16,cold,8,64,8,4096,128," +
             work + ",50\n"));
  };
  EXPECT_THAT(attention("134217728,1073741824"), IsEmpty());
  EXPECT_THAT(attention("134479872,1073741824"), IsEmpty());
  EXPECT_THAT(attention("134217728,2147483648"), IsEmpty());  // 8 query heads in tiles of 16
  EXPECT_THAT(attention("144015622,1073741824"), ElementsAre(HasSubstr("134217728 to 134")));
  EXPECT_THAT(attention("67108864,1073741824"), ElementsAre(HasSubstr("0.5 times that")));
  EXPECT_THAT(attention("134217728,536870912"), ElementsAre(HasSubstr("FLOPs against sizes")));
}

TEST(WorkFormulas, SayWhichKernelsHaveNone) {
  const auto notes = [](const std::string& csv) { return check_timings(read(csv)).notes; };
  EXPECT_THAT(notes(products("1,1", "device: x")),
              ElementsAre("no formula is stated for mine: bytes and FLOPs are not checked against "
                          "sizes (--family NAME=KIND)"));
  EXPECT_THAT(notes("kernel,dtype,temperature,memory_bytes,time_us\ngemm,bf16,cold,1000,5\n"),
              ElementsAre("gemm: bytes and FLOPs are not checked against sizes, as it does not "
                          "state m, k, n"));
  EXPECT_THAT(notes("kernel,temperature,shape.m,shape.n,shape.k,memory_bytes,time_us\n"
                    "gemm,cold,1,1,1,1000,5\n"),
              ElementsAre(HasSubstr("does not state dtype")));
}

// Google Benchmark has no column of types.
TEST(WorkFormulas, TakeATemplateArgumentForTheType) {
  TimingSet set = read(
      R"({"context": {"date": "2026-01-01", "host_name": "a", "executable": "a", "num_cpus": 1,
 "mhz_per_cpu": 1, "cpu_scaling_enabled": false, "caches": [], "load_avg": [],
 "library_build_type": "release"}, "benchmarks": [{"name": "mine<bf16>/m:16/n:1024/k:512",
 "run_name": "mine<bf16>/m:16/n:1024/k:512", "run_type": "iteration", "repetitions": 1,
 "repetition_index": 0, "threads": 1, "iterations": 9, "real_time": 5, "cpu_time": 5,
 "time_unit": "us",
 "memory_bytes": 548864, "flops": 16777216}]})");
  set.families = {{"mine", KernelFamily::gemm}};
  EXPECT_THAT(against_sizes(set), ElementsAre(HasSubstr("f:7:2: error: mine<bf16>/m:16")));
}

// The sizes of a dry run are those of the longest sequence.
TEST(WorkFormulas, LimitTheWorkOfADryRun) {
  TimingSet set = read(decodes(0.5));
  set.data_class = "none";
  EXPECT_THAT(against_sizes(set), IsEmpty());
  set = read(decodes(1.073));
  set.data_class = "none";
  EXPECT_EQ(against_sizes(set).size(), kDecodes.size());
}

TEST(WorkFormulas, FamiliesOfAFileAreCheckedWhereTheyStand) {
  using testing::told;
  EXPECT_THAT(told(products("1097728,1", "family.gem: mine")),
              HasSubstr("f:1:1: error: no family of kernels is called 'gem' (gemm, attention, "));
  EXPECT_EQ(told(products("1097728,1", "family.gemm: other")),
            "f:1:1: error: no row is of the kernel 'other' (kernels: mine)\n");
  EXPECT_EQ(told(products("1097728,1", "family.gemm: mine\n# family.attention: mine")),
            "f:2:1: error: the kernel 'mine' has a family already\n");
}

}  // namespace
}  // namespace tiersim::work_formulas_test
