// Files of timings: their format, comma-separated values, and the error messages for wrong ones.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/read/timing_repeats.hpp"
#include "tests/unit/hwmodels/timing_texts.hpp"

namespace tiersim::calibrate_read_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::read;
using ::testing::SizeIs;
using testing::told;

TEST(TimingRepeats, TakeOrderStatisticsOfTheMedian) {
  std::vector<double> values;
  for (int i = 1; i <= 101; ++i) values.push_back(i);
  // P(Binomial(101, 1/2) < 41) = 2.3 %, P(< 42) = 3.7 %: the 41st and the 61st.
  const TimingRepeat many = order_interval(values);
  EXPECT_EQ(many.median, 51);
  EXPECT_EQ(many.low, 41);
  EXPECT_EQ(many.high, 61);
  const TimingRepeat five = order_interval({5, 1, 4, 2, 3});  // no k is: the whole range
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_EQ(order_interval({1, 2, 3, 4, 5, 6}).median, 3.5);
}

TEST(TimingRepeats, WidenTheIntervalToTheMediansOfAllProcesses) {
  TimingCase timing;
  const auto refusal = merge_repeats({{10, 9, 11}, {12, 11.5, 12.5}, {10.5, 10, 11}}, timing);
  EXPECT_FALSE(refusal);
  EXPECT_EQ(timing.seconds, 10.5);
  EXPECT_EQ(timing.low, 10);   // median of 9, 11.5, 10; the least median is 10
  EXPECT_EQ(timing.high, 12);  // median of 11, 12.5, 11 is 11; the largest median 12
  EXPECT_DOUBLE_EQ(timing.repeat_noise, 1 / 10.5);
}

// P(Binomial(1201, 1/2) < 567) = 2.48 %, P(< 568) = 2.8 %, from the sum of exact binomials.
TEST(TimingRepeats, TakeAnyNumberOfValues) {
  std::vector<double> values;
  for (int i = 1; i <= 1201; ++i) values.push_back(i);
  const TimingRepeat many = order_interval(values);
  EXPECT_EQ(many.median, 601);
  EXPECT_EQ(many.low, 567);
  EXPECT_EQ(many.high, 1201 - 566);
}

std::string refused(const std::vector<TimingRepeat>& repeats) {
  TimingCase timing;
  timing.where = "f:1";
  timing.name = "a";
  const auto refusal = merge_repeats(repeats, timing);
  return refusal ? text(*refusal) : "";
}

TEST(TimingRepeats, RefuseAMedianOutsideItsOwnInterval) {
  EXPECT_EQ(
      refused({{2.5e-6, 100e-6, 101e-6}}),
      "f:1: error: a: bad interval: it has a median of 2.5 us that is not within its interval from "
      "100 us to 101 us");
  EXPECT_EQ(
      refused({{2e-6, 1e-6, 3e-6}, {2e-6, 3e-6, 1e-6}}),
      "f:1: error: a: bad interval: of its 2 repeats, number 2 has a median of 2 us that is not "
      "within its interval from 3 us to 1 us");
  EXPECT_EQ(refused({{2e-6, 2e-6, 2e-6}}), "");
}

// 2 us against 4 us is the margin of 2, whatever the intervals; 2.5 us up to 3 against 7 down to 6.
TEST(TimingRepeats, RefuseRepeatsAFactorApartBeyondTheirIntervals) {
  EXPECT_EQ(refused({{2, 2, 2}, {4, 4, 4}}), "");
  EXPECT_EQ(refused({{2.5, 2, 3}, {7, 6, 8}}), "");
  EXPECT_EQ(refused({{2e-6, 2e-6, 2e-6}, {2e-3, 2e-3, 2e-3}, {2e-6, 2e-6, 2e-6}}),
            "f:1: error: a: repeats apart: of its 3 repeats one takes 2 us and another 2000 us: "
            "more than "
            "a factor of 2 apart beyond their intervals");
}

TEST(ReadCsv, RefusesWhatCannotBeOfOneCase) {
  const auto first = [](const std::string& text) {
    const std::vector<std::string> all = testing::refusals(read(text));
    return all.size() == 1 ? all.front() : std::string("none or several");
  };
  EXPECT_THAT(first("kernel,time_us,low_us,high_us\na,2500,2.4,2.6\n"), HasSubstr("bad interval"));
  EXPECT_THAT(first("kernel,time_us,low_us,high_us\na,2.5,100,101\n"), HasSubstr("bad interval"));
  EXPECT_THAT(first("kernel,process,time_us\na,0,2\na,1,2000\na,2,2\n"),
              HasSubstr("repeats apart"));
  EXPECT_THAT(first("kernel,time_us\na,1e300\n"),
              HasSubstr("out of range: 1e+294 s is no time from 1e-12 to 1e+06 s"));
  EXPECT_THAT(first("kernel,time_us\na,1e-310\n"), HasSubstr("out of range"));
  EXPECT_THAT(first("kernel,memory_bytes,time_us\na,1e-320,3\n"),
              HasSubstr("is neither 0 nor from 1 to 1e+18"));
  EXPECT_THAT(first("kernel,flops,time_us\na,1e19,3\n"),
              HasSubstr("flops of 1e+19 is neither 0 nor from 1 to 1e+18"));
  EXPECT_THAT(first("kernel,waves,time_us\na,1e-300,3\n"), HasSubstr("a tail of 1e+300"));
}

TEST(ReadCsv, RefusesSettingsThatSayNothing) {
  const std::string rows = "kernel,time_us\na,3\n";
  EXPECT_EQ(told("# device: a\n# device: b\n" + rows),
            "f:2:1: error: setting 'device' stands twice\n");
  EXPECT_EQ(told("# l2: 60\n" + rows),
            "f:1:1: error: '60' is below 1 MB, so no L2: is its unit missing?\n");
  EXPECT_EQ(told("# peak.memory: 0 GB/s\n" + rows), "f:1:1: error: '0 GB/s' is no peak above 0\n");
  for (const std::string date : {"today", "9.1.2026", "2026-02-29", "2026-01-01T25:00:00Z"}) {
    const std::string why = "f:1:1: error: '" + date +
                            "' is no date (a day, 2026-01-31, or a time, 2026-01-31T12:00:00Z)\n";
    EXPECT_EQ(told("# date: " + date + "\n" + rows), why);
  }
  ReadOptions options;
  options.date = "today";
  EXPECT_THAT(told(rows, options), HasSubstr("'today' is no date"));
}

TEST(ReadTimings, SaysWhatItCannotTell) {
  EXPECT_EQ(told(""), "f:1:1: error: this file is empty\n");
  EXPECT_EQ(told("{\"a\": 1}"),
            "f:1:1: error: this JSON holds no timings (wanted: the campaign's file (a 'schema') or "
            "Google Benchmark's ('context' and 'benchmarks'))\n");
  EXPECT_EQ(told("{\"a\": 1, \"a\": 2}"), "f:1:10: error: key 'a' stands twice\n");
  EXPECT_EQ(told("{\"schema\": \"tiersim.kernel_checks/v1\"}"),
            "f:1:2: error: schema: 'tiersim.kernel_checks/v1' holds no timings of kernels (wanted: "
            "tiersim.kernel_timings/v1)\n");
  EXPECT_THAT(told("{\"a\": [1,\n 2"), HasSubstr("f:2:2: error: this is no JSON: "));
  EXPECT_THAT(told("{\"a\": " + std::string(1000, '[')), HasSubstr("nested more than 64 deep"));
}

TEST(ReadTimings, TakesOverWhatTheFileDoesNotSay) {
  ReadOptions options;
  options.device = "NVIDIA H200";
  options.date = "2026-11-21";
  options.l2_bytes = 60e6;
  options.peaks = {{"memory", 4.8e12, true, NumberClass::specification, "sheet"},
                   {"link_read", 63e9, true, NumberClass::specification, "sheet"}};
  const std::string rows = "kernel,temperature,time_us\ncopy,cold,3\n";
  const TimingSet set = read("# peak.memory: 2000 GB/s\n" + rows, options);
  EXPECT_EQ(set.device, "NVIDIA H200");
  EXPECT_EQ(set.data_class, "reported");
  EXPECT_EQ(set.l2_bytes, 60e6);
  ASSERT_THAT(set.peaks, SizeIs(2));  // the file's own stands
  EXPECT_EQ(set.peaks[0].value, 2e12);
  EXPECT_EQ(set.peaks[1].name, "link_read");
  EXPECT_EQ(told("# device: H100\n" + rows, options),
            "f:1:1: error: the device of this file is 'H100', but 'NVIDIA H200' was given\n");
}

TEST(ReadTimings, LetsNothingBeMeasuredWithoutCardAndDate) {
  const std::string rows = "kernel,temperature,time_us\ncopy,cold,3\n";
  EXPECT_EQ(told("# class: measured\n" + rows),
            "f:1:1: error: timings are measured only where the card and the date are named (add "
            "them, or say 'reported')\n");
  EXPECT_EQ(told("# class: measured\n# device: emulator\n# date: 2026-11-21\n" + rows),
            "f:1:1: error: no card is called 'emulator', so nothing was measured\n");
  EXPECT_EQ(
      told("# class: good\n" + rows),
      "f:1:1: error: 'good' is no class of timings (measured, reported, synthetic or none)\n");
}

TEST(ReadCsv, ReadsEveryColumnWithItsUnit) {
  const TimingSet set = read(
      "\xEF\xBB\xBF# device: NVIDIA H200\r\n"
      "# a comment\r\n"
      "# l2: 60 MB\r\n"
      "kernel,variant,dtype,temperature,baseline,shape.rows,blocks,memory_bytes,link_read_bytes,"
      "link_write_bytes,requested_bytes,flops,waves,bytes_in_flight,time_us,low_us,high_us\r\n"
      "copy,\"a, \"\"b\"\"\",bf16,warm,true,1024,66,1 MiB,10,20,30,5e9,1.5,2048,3.5,3,4\r\n");
  EXPECT_EQ(set.format, "csv");
  EXPECT_EQ(set.device, "NVIDIA H200");
  EXPECT_EQ(set.l2_bytes, 60e6);
  ASSERT_THAT(set.cases, SizeIs(1));
  const TimingCase& timing = set.cases[0];
  EXPECT_EQ(timing.where, "f:5:1");
  EXPECT_EQ(timing.name, "copy.a, \"b\".bf16.blocks66.rows1024/warm");
  EXPECT_EQ(timing.variant, "a, \"b\"");
  EXPECT_EQ(timing.temperature, Temperature::warm);
  EXPECT_TRUE(timing.baseline);
  EXPECT_THAT(timing.shape, ElementsAre(Pair("blocks", 66), Pair("rows", 1024)));
  EXPECT_EQ(timing.work.memory_bytes, 1048576);
  EXPECT_EQ(timing.work.link_read_bytes, 10);
  EXPECT_EQ(timing.work.link_write_bytes, 20);
  EXPECT_EQ(timing.work.requested_bytes, 30);
  EXPECT_EQ(timing.work.flops, 5e9);
  EXPECT_DOUBLE_EQ(timing.tail, 2 / 1.5);
  EXPECT_EQ(timing.bytes_in_flight, 2048);
  EXPECT_DOUBLE_EQ(timing.seconds, 3.5e-6);
  EXPECT_DOUBLE_EQ(timing.low, 3e-6);
  EXPECT_DOUBLE_EQ(timing.high, 4e-6);
}

TEST(ReadCsv, TakesTheUnitFromTheCellWhereTheHeaderHasNone) {
  const TimingSet set = read(
      "kernel,shape.n,temperature,time\na,1,cold,1.5 ms\na,2,cold,2us\na,3,cold,30 ns\na,4,"
      "cold,1 s\n");
  ASSERT_THAT(set.cases, SizeIs(4));
  EXPECT_DOUBLE_EQ(set.cases[0].seconds, 1.5e-3);
  EXPECT_DOUBLE_EQ(set.cases[1].seconds, 2e-6);
  EXPECT_DOUBLE_EQ(set.cases[2].seconds, 30e-9);
  EXPECT_DOUBLE_EQ(set.cases[3].seconds, 1);
  EXPECT_EQ(set.cases[0].low, set.cases[0].seconds);  // no interval was stated
}

TEST(ReadCsv, MergesTheProcessesOfACase) {
  const TimingSet set =
      read("kernel,shape.n,process,time_us\na,1,0,10\na,2,0,50\na,1,1,12\na,1,2,11\n");
  ASSERT_THAT(set.cases, SizeIs(2));
  EXPECT_DOUBLE_EQ(set.cases[0].seconds, 11e-6);
  EXPECT_DOUBLE_EQ(set.cases[0].low, 10e-6);
  EXPECT_DOUBLE_EQ(set.cases[0].high, 12e-6);
  EXPECT_NEAR(set.cases[0].repeat_noise, 1.0 / 11, 1e-12);
  EXPECT_THAT(set.notes, ElementsAre("f: no column 'temperature': cold is taken"));
  EXPECT_EQ(told("kernel,shape.n,process,time_us\na,1,0,10\na,1,0,12\n"),
            "f:3:5: error: process 0 of 'a.n1/cold' stands twice\n");
}

TEST(ReadCsv, ListsEveryMistakeWithItsPlace) {
  EXPECT_EQ(told("# l2: big\n"
                 "# colour: red\n"
                 "kernel,temperatur,colour,time,low_us,shape.n,memory_bytes,baseline\n"
                 "a,cold,red,3.5,1,1.5,1 MB,no\n"
                 ",cold,red,3.5 min,1,1,-1,true\n"
                 "a,cold\n"
                 "a,cold,\"red,0 us,1,1,1,true\n"),
            "f:1:1: error: 'big' is not a size: a number, a space and one of: B, KB, KiB, MB, MiB, "
            "GB, GiB, TB, TiB\n"
            "f:2:1: error: unknown setting 'colour' (known are: device, date, class, build, l2, "
            "peak.memory, family.gemm; a comment has no colon behind its first word)\n"
            "f:3:1: error: an interval needs both 'low' and 'high'\n"
            "f:3:8: error: unknown column 'temperatur' (did you mean 'temperature'?)\n"
            "f:3:19: error: unknown column 'colour' (shape.colour where it is a size; known are: "
            "name, kernel, variant, dtype, temperature, baseline, bytes_in_flight, flops, tail, "
            "waves, memory_bytes, link_read_bytes, link_write_bytes, requested_bytes, process, "
            "blocks, time, time_ns, time_us, time_ms, time_s, low_us, high_us)\n"
            "f:4:12: error: time: '3.5' is no time with a unit (as in '12.5 us': ns, us, ms or s)\n"
            "f:4:18: error: shape.n: '1.5' is no whole number\n"
            "f:4:27: error: baseline: 'no' is not one of true, false\n"
            "f:5:1: error: kernel: the cell is empty\n"
            "f:5:11: error: time: '3.5 min' is no time with a unit (as in '12.5 us': ns, us, ms or "
            "s)\n"
            "f:5:23: error: memory_bytes: '-1' is below 0\n"
            "f:6:1: error: 2 cells, but the header has 8\n"
            "f:7:8: error: a quote is left open, or has text behind it\n");
}

TEST(ReadCsv, LeavesOutColumnsThatAreNamedAsContext) {
  ReadOptions options;
  options.context = {"colour"};
  const TimingSet set = read("kernel,temperature,colour,time_us\na,cold,red,3\n", options);
  EXPECT_THAT(set.notes, ElementsAre("f:1: column 'colour' is left out, as context"));
  EXPECT_THAT(set.cases, SizeIs(1));
}

TEST(ReadCsv, WantsAHeaderAKernelAndOneTime) {
  EXPECT_EQ(told("# device: a\n"), "f:1:1: error: no header line names the columns\n");
  EXPECT_EQ(told("name,time_us\na,3\n"), "f:1:1: error: no column 'kernel' says what was timed\n");
  EXPECT_EQ(told("kernel\na\n"),
            "f:1:1: error: no column has the time of a launch (time_ns, time_us, time_ms, time_s, "
            "or time with a unit in each cell)\n");
  EXPECT_EQ(told("kernel,time_us,time_ns\na,3,3000\n"),
            "f:1:1: error: several columns say 'time'\n");
  EXPECT_EQ(told("# peak.memry: 1 GB/s\nkernel,time_us\na,3\n"),
            "f:1:1: error: no peak is called 'memry' (memory, l2, link_read, link_write or "
            "flops.<type>)\n");
  EXPECT_EQ(told("kernel,time_us\n"), "f:1:1: error: no timing stands in this file\n");
}

}  // namespace
}  // namespace tiersim::calibrate_read_test
