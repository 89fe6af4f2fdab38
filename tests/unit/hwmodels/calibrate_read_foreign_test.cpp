// Google Benchmark's files and the tables of NCCL's tests, and the error messages for wrong ones.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hwmodels/timing_texts.hpp"

namespace tiersim::calibrate_read_foreign_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::read;
using testing::refusals;
using ::testing::SizeIs;
using testing::told;

constexpr const char* kContext =
    R"({"context": {"date": "2026-11-21T12:00:00Z", "num_cpus": 2, "device": "NVIDIA H200",
"l2_bytes": "60 MB", "peak.memory": "4800 GB/s", "library_build_type": "release"},
"benchmarks": [
)";

std::string google(const std::string& rows) {
  return kContext + rows + "]}";
}

TEST(ReadGoogleBenchmark, TakesNameShapeAndCounters) {
  const TimingSet set = read(google(
      R"({"name": "BM_copy<bf16>/rows:64/4096/warm/manual_time", "run_type": "iteration",
 "run_name": "BM_copy<bf16>/rows:64/4096/warm/manual_time", "repetitions": 1, "iterations": 100,
 "threads": 1, "real_time": 10.0, "cpu_time": 99.0, "time_unit": "us", "bytes_per_second": 1e11,
 "items_per_second": 1e8, "flops": 5e6, "tail": 1.5, "shape.group": 8, "low_us": 9, "high_us": 11})"));
  EXPECT_EQ(set.format, "google_benchmark");
  EXPECT_EQ(set.device, "NVIDIA H200");
  EXPECT_EQ(set.l2_bytes, 60e6);
  ASSERT_THAT(set.peaks, SizeIs(1));
  EXPECT_EQ(set.peaks[0].value, 4.8e12);
  ASSERT_THAT(set.cases, SizeIs(1));
  const TimingCase& timing = set.cases[0];
  EXPECT_EQ(timing.kernel, "BM_copy");
  EXPECT_EQ(timing.variant, "bf16");
  EXPECT_EQ(timing.temperature, Temperature::warm);
  EXPECT_THAT(timing.shape, ElementsAre(Pair("arg0", 4096), Pair("group", 8), Pair("items", 1000),
                                        Pair("rows", 64)));
  EXPECT_DOUBLE_EQ(timing.work.memory_bytes, 1e6);  // 1e11 B/s over 10 us of manual time
  EXPECT_EQ(timing.work.flops, 5e6);
  EXPECT_EQ(timing.tail, 1.5);
  EXPECT_DOUBLE_EQ(timing.seconds, 10e-6);
  EXPECT_DOUBLE_EQ(timing.low, 9e-6);
  EXPECT_DOUBLE_EQ(timing.high, 11e-6);
}

TEST(ReadGoogleBenchmark, DividesRatesByTheTimeThatTheLibraryTook) {
  const auto bytes = [](const std::string& name) {
    return read(
               google(
                   R"({"name": ")" + name +
                   R"(", "real_time": 10, "cpu_time": 20, "time_unit": "ns", "bytes_per_second": 1e9})"))
        .cases.at(0)
        .work.memory_bytes;
  };
  EXPECT_DOUBLE_EQ(bytes("a/real_time"), 10);
  EXPECT_DOUBLE_EQ(bytes("a/manual_time"), 10);
  EXPECT_DOUBLE_EQ(bytes("a"), 20);
}

std::string row(const std::string& name, const std::string& more, double time) {
  return R"({"name": ")" + name + R"(", "run_name": "a/1", "repetitions": 3, "time_unit": "ms", )" +
         more + R"("real_time": )" + std::to_string(time) + R"(, "cpu_time": 1})";
}
std::string aggregate(const std::string& which, double time) {
  return row("a/1_" + which, R"("run_type": "aggregate", "aggregate_name": ")" + which + "\", ",
             time);
}
std::string repetition(double time) {
  return row("a/1", R"("run_type": "iteration", )", time);
}

TEST(ReadGoogleBenchmark, MergesRepetitionsAndTakesNoAggregateForACase) {
  const TimingSet set = read(google(repetition(10) + "," + repetition(12) + "," + repetition(11) +
                                    "," + aggregate("mean", 11) + "," + aggregate("median", 11) +
                                    "," + aggregate("stddev", 1) + "," + aggregate("cv", 0.0909)));
  ASSERT_THAT(set.cases, SizeIs(1));
  EXPECT_DOUBLE_EQ(set.cases[0].seconds, 11e-3);
  EXPECT_DOUBLE_EQ(set.cases[0].low, 10e-3);
  EXPECT_DOUBLE_EQ(set.cases[0].high, 12e-3);
  EXPECT_THAT(set.refused, IsEmpty());
}

// 3 repetitions, 10 ms +- 1 ms: 1.96 * 1.2533 * 1 / sqrt 3 = 1.4183 ms.
TEST(ReadGoogleBenchmark, TakesAggregatesWhereRepetitionsWereNotWritten) {
  for (const std::string& dispersion : {aggregate("stddev", 1), aggregate("cv", 0.1)}) {
    const TimingSet set =
        read(google(aggregate("mean", 10.5) + "," + aggregate("median", 10) + "," + dispersion));
    ASSERT_THAT(set.cases, SizeIs(1));
    EXPECT_DOUBLE_EQ(set.cases[0].seconds, 10e-3);
    EXPECT_NEAR(set.cases[0].high, 11.4183e-3, 1e-7);
    EXPECT_NEAR(set.cases[0].low, 8.5817e-3, 1e-7);
  }
}

TEST(ReadGoogleBenchmark, RefusesAggregatesThatDoNotFollow) {
  const TimingSet set = read(google(repetition(10) + "," + repetition(12) + "," +
                                    aggregate("mean", 11) + "," + aggregate("median", 12)));
  EXPECT_THAT(set.cases, IsEmpty());
  EXPECT_THAT(refusals(set),
              ElementsAre("f:4:1: error: a/1: contradicts itself: its _median row says 0.012 "
                          "s, its 2 repetitions 0.011 s"));
}

TEST(ReadGoogleBenchmark, NotesRowsWithoutAResult) {
  const TimingSet set = read(google(
      R"({"name": "b", "error_occurred": true, "error_message": "no card", "real_time": 0},)" +
      repetition(10)));
  EXPECT_THAT(set.cases, SizeIs(1));
  EXPECT_THAT(set.notes[0], HasSubstr("'b' has no result: no card"));
}

TEST(ReadGoogleBenchmark, ListsEveryMistakeWithItsPlace) {
  const std::string text = google(
      R"({"name": "a", "real_time": 10, "cpu_time": 1, "time_unit": "us", "flop": 3, "colour": 4},
{"name": "b", "real_time": 0, "cpu_time": "x", "time_unit": "min", "note.colour": 1}
)");
  EXPECT_EQ(told(text),
            "f:4:66: error: benchmarks[0].flop: counter 'flop' is neither work nor shape (did you "
            "mean 'flops'?)\n"
            "f:4:77: error: benchmarks[0].colour: counter 'colour' is neither work nor shape (name "
            "it as context, or call it note.colour or shape.colour)\n"
            "f:5:15: error: benchmarks[1].real_time: a time must be above 0\n"
            "f:5:31: error: benchmarks[1].cpu_time: this must be a number, not 'x'\n"
            "f:5:48: error: benchmarks[1].time_unit: 'min' is not one of ns, us, ms, s\n");
  ReadOptions options;
  options.context = {"flop", "colour"};
  EXPECT_THAT(told(text, options), ::testing::Not(HasSubstr("counter")));
}

std::string nccl(const std::string& rows, const std::string& test = "all_reduce_perf") {
  return "# nThread 1 nGpus 2 minBytes 8 maxBytes 128 step: 2(factor)\n"
         "# Collective test starting: " +
         test +
         "\n"
         "#  Rank  0 Group  0 Pid 1 on h device  0 [0x00] NVIDIA H100 80GB HBM3\n"
         "#  Rank  3 Group  0 Pid 1 on h device  3 [0x01] NVIDIA H100 80GB HBM3\n"
         "#                                                out-of-place                in-place\n"
         "#   size   count  type redop root  time algbw busbw #wrong  time algbw busbw #wrong\n"
         "#    (B) (elements)                (us) (GB/s) (GB/s)       (us) (GB/s) (GB/s)\n" +
         rows + "# Out of bounds values : 0 OK\n";
}

// 1 MiB of 262144 floats in 100 us: 10.48576 GB/s, times 2 * 3/4 for 4 ranks: 15.73.
TEST(ReadNcclTests, MakesTwoCasesOfARow) {
  const TimingSet set =
      read(nccl("1048576 262144 float sum -1 100.0 10.49 15.73 0 50.00 20.97 31.46 N/A\n"));
  EXPECT_EQ(set.format, "nccl_tests");
  EXPECT_EQ(set.device, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(set.refused, IsEmpty());
  ASSERT_THAT(set.cases, SizeIs(2));
  EXPECT_EQ(set.cases[0].name, "all_reduce.sum.out_of_place.fp32.n4.1048576b");
  EXPECT_EQ(set.cases[0].dtype, "fp32");
  EXPECT_THAT(set.cases[0].shape, ElementsAre(Pair("count", 262144), Pair("ranks", 4)));
  EXPECT_DOUBLE_EQ(set.cases[0].seconds, 100e-6);
  EXPECT_DOUBLE_EQ(set.cases[1].seconds, 50e-6);
  EXPECT_DOUBLE_EQ(set.cases[0].work.link_read_bytes, 0.75 * 1048576);
  EXPECT_DOUBLE_EQ(set.cases[0].work.link_write_bytes, 0.75 * 1048576);
}

// A count of all_gather is of one rank: 65536 halves at 4 ranks are 512 KiB; its factor is 3/4.
TEST(ReadNcclTests, KnowsWhoseCountAndWhichFactorATestHas) {
  const std::string row = "524288 65536 half none -1 100.0 5.24 3.93 0 100.0 5.24 3.93 0\n";
  EXPECT_THAT(read(nccl(row, "./build/all_gather_perf")).refused, IsEmpty());
  EXPECT_THAT(refusals(read(nccl(row, "all_reduce_perf"))), SizeIs(4));
  ReadOptions options;
  options.collective = "all_gather";
  EXPECT_THAT(read(nccl(row, "x"), options).refused, IsEmpty());
  const std::string plain = "524288 262144 half none 0 100.0 5.24 5.24 0 100.0 5.24 5.24 0\n";
  EXPECT_THAT(read(nccl(plain, "broadcast_perf")).refused, IsEmpty());
}

TEST(ReadNcclTests, RefusesRowsThatContradictThemselves) {
  const TimingSet set =
      read(nccl("262144 262144 float sum -1 100.0 2.62 3.93 0 100.0 2.62 3.93 0\n"
                "1048576 262144 float sum -1 0.10 10.49 15.73 0 100000 10.49 15.73 0\n"
                "1048576 262144 float sum -1 100.0 10.49 10.49 0 100.0 10.49 15.73 2\n"
                "1048576 262144 float sum -1 100.0 12.00 18.00 0 100.0 10.49 15.73 0\n"));
  EXPECT_THAT(
      refusals(set),
      ElementsAre(
          "f:8:1: error: all_reduce.sum.out_of_place.fp32.n4.262144b: elements for bytes: its size "
          "of "
          "262144 "
          "B is not 262144 elements of 4 B: 1048576 B; the element count stands for the bytes",
          "f:8:1: error: all_reduce.sum.in_place.fp32.n4.262144b: elements for bytes: its size of "
          "262144 B "
          "is not 262144 elements of 4 B: 1048576 B; the element count stands for the bytes",
          "f:9:1: error: all_reduce.sum.out_of_place.fp32.n4.1048576b: unit slip: 1048576 B in 0.1 "
          "us are "
          "1.049e+04 GB/s, but its algbw is 10.49; it fits a time in ms",
          "f:9:1: error: all_reduce.sum.in_place.fp32.n4.1048576b: unit slip: 1048576 B in 100000 "
          "us are "
          "0.01049 GB/s, but its algbw is 10.49; it fits a time in ns",
          "f:10:1: error: all_reduce.sum.out_of_place.fp32.n4.1048576b: busbw against algbw: its "
          "busbw of "
          "10.49 is not its algbw of 10.49 times 1.5 (all_reduce at 4 ranks)",
          "f:10:1: error: all_reduce.sum.in_place.fp32.n4.1048576b: wrong result: 2 elements came "
          "out wrong",
          "f:11:1: error: all_reduce.sum.out_of_place.fp32.n4.1048576b: algbw against time: "
          "1048576 B in "
          "100 "
          "us are 10.49 GB/s, but its algbw is 12"));
  EXPECT_THAT(set.cases, SizeIs(1));
}

TEST(ReadNcclTests, ListsEveryMistakeWithItsPlace) {
  std::string text =
      nccl("1048576 262144 quad sum -1 100.0 10.49 15.73 0 x 20.97 31.46 0\n1 2 3\n", "nothing");
  text.replace(text.find("(us)"), 4, "(ms)");
  EXPECT_EQ(told(text),
            "f:1:1: error: nothing says which test this is (one of all_reduce, all_gather, "
            "reduce_scatter, alltoall, gather, scatter, broadcast, reduce, sendrecv)\n"
            "f:7:1: error: the units of this table are not (us) and (GB/s)\n"
            "f:8:1: error: time: 'x' is no number\n"
            "f:8:1: error: type: 'quad' is none of NCCL's\n"
            "f:9:1: error: 3 numbers, but the header at line 6 has 13 columns\n");
}

// 32768 B in 13.39 us are 2.45 GB/s; a rank of two receives half of them.
TEST(ReadNcclTests, ReadsTheRatesOfEarlyVersions) {
  const std::string row = "32768 4096 float none -1 13.39 1.22 1.22 0 13.39 2.45 2.45 0\n";
  std::string text = nccl(row, "all_gather_perf");
  text.replace(text.find("Rank  3"), 7, "Rank  1");
  EXPECT_THAT(
      refusals(read(text)),
      ElementsAre(
          "f:8:1: error: all_gather.in_place.fp32.n2.32768b: busbw against algbw: its busbw of "
          "2.45 is not its algbw of 2.45 times 0.5 (all_gather at 2 ranks)"));
}

// Tables from before redop, root and #wrong; ranks from nThread * nGpus.
TEST(ReadNcclTests, ReadsTheColumnsThatTheHeaderNames) {
  const TimingSet set = read(
      "# nThread 1 nGpus 2 minBytes 8\nall_gather_perf -b 8\n"
      "#  size  count  type   time  algbw  busbw  error   time  algbw  busbw  error\n"
      "  32768   4096  float  13.39  2.45  1.22  0e+00  11.85  2.77  1.38  1e-07\n");
  EXPECT_THAT(refusals(set), IsEmpty());
  ASSERT_THAT(set.cases, SizeIs(2));
  EXPECT_EQ(set.cases[0].name, "all_gather.out_of_place.fp32.n2.32768b");
}

}  // namespace
}  // namespace tiersim::calibrate_read_foreign_test
