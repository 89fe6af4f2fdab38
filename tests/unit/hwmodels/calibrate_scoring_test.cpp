// Predictions against measurements: errors worked out by hand, and refusals.
#include "hwmodels/calibrate/fit/scoring.hpp"

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/scored_files.hpp"

namespace tiersim::calibrate_scoring_test {
namespace {

// Errors of quotients of doubles: a few times 2^-53.
constexpr double kRounding = 1e-15;

PredictedTimes predictions() {
  return {.file = "p.csv",
          .build_id = "b",
          .date = "2026-01-01",
          .cases = {{"a", {110, 90, 130}}, {"b", {90, 85, 95}}, {"c", {200, 150, 250}}}};
}

MeasuredTimes measurements() {
  MeasuredTimes out{.file = "m.csv",
                    .level = "kernel",
                    .build_id = "b",
                    .date = "2026-01-02",
                    .data_class = "synthetic",
                    .device = "synthetic",
                    .cases = {}};
  for (const char* name : {"a", "b", "d"}) {
    MeasuredTimes::Case each;
    each.name = name;
    each.seconds = 100;
    each.noise = 0.02;
    each.roofline = 50;
    each.sum = 120;
    out.cases.push_back(each);
  }
  return out;
}

TEST(Score, HoldsEachCaseAgainstItsInterval) {
  const Score made = score(predictions(), measurements());
  ASSERT_EQ(made.cases.size(), 2U);
  EXPECT_NEAR(made.cases[0].error, 0.1, kRounding);
  EXPECT_EQ(made.cases[0].status, ScoreStatus::covered);
  EXPECT_NEAR(made.cases[1].error, -0.1, kRounding);
  EXPECT_EQ(made.cases[1].status, ScoreStatus::missed);
  EXPECT_NEAR(made.summary.signed_mean, 0, kRounding);
  EXPECT_EQ(made.summary.coverage, 0.5);
}

TEST(Score, NamesWhatStandsInOneFileOnly) {
  const Score made = score(predictions(), measurements());
  EXPECT_EQ(made.only_predicted, std::vector<std::string>{"c"});
  EXPECT_EQ(made.only_measured, std::vector<std::string>{"d"});
}

TEST(Score, HoldsTheBaselinesAgainstTheSameCases) {
  MeasuredTimes measured = measurements();
  measured.cases[2].roofline = 1;  // of d, which is not predicted
  measured.cases[1].sum.reset();
  const Score made = score(predictions(), measured);
  ASSERT_TRUE(made.roofline);
  EXPECT_EQ(made.roofline->count, 2);
  EXPECT_NEAR(made.roofline->signed_mean, -0.5, kRounding);
  ASSERT_TRUE(made.sum);
  EXPECT_EQ(made.sum->count, 1);
  EXPECT_NEAR(made.sum->signed_mean, 0.2, kRounding);
}

TEST(Score, HasNoBaselineThatNoCaseHas) {
  MeasuredTimes measured = measurements();
  for (MeasuredTimes::Case& each : measured.cases) each.sum.reset();
  EXPECT_FALSE(score(predictions(), measured).sum);
}

TEST(Score, SaysWhatRepetitionDoesNotResolve) {
  MeasuredTimes measured = measurements();
  measured.cases[1].noise = 0.2;  // b is 10 % off and outside of its interval
  const Score made = score(predictions(), measured);
  EXPECT_EQ(made.cases[1].status, ScoreStatus::below_noise);
  EXPECT_EQ(made.unresolved, 1);
  EXPECT_NEAR(made.noise_floor, 0.11, kRounding);  // between .02 and .2
}

TEST(Refusals, AreNoneForPredictionsMadeBeforeOfTheSameBuild) {
  EXPECT_TRUE(refusals(predictions(), measurements()).empty());
  PredictedTimes same_day = predictions();
  MeasuredTimes measured = measurements();
  measured.date = "2026-01-01T10:00:00Z";
  EXPECT_EQ(refusals(same_day, measured),
            std::vector<std::string>{"p.csv is of 2026-01-01 and m.csv of 2026-01-01T10:00:00Z: "
                                     "nothing says which came first"});
  same_day.date = "2026-01-01T11:00:00Z";
  EXPECT_EQ(refusals(same_day, measured).size(), 1U);  // an hour late
  same_day.date = "2026-01-01T11:00:00+01:00";
  EXPECT_TRUE(refusals(same_day, measured).empty());  // the same moment
  measured.date = "2026-01-01";
  EXPECT_EQ(refusals(same_day, measured).size(), 1U);  // the order is not known
  same_day.date = "2026-01-01";
  EXPECT_TRUE(refusals(same_day, measured).empty());
  same_day.date = "2026-01-01T00:30:00+01:00";  // the day before, in UTC
  EXPECT_TRUE(refusals(same_day, measured).empty());
  same_day.date = "foo";
  EXPECT_EQ(refusals(same_day, measured).size(), 1U);
}

TEST(Refusals, NameEveryReason) {
  PredictedTimes predicted = predictions();
  predicted.date = "2026-01-03";
  predicted.build_id = "other";
  MeasuredTimes measured = measurements();
  measured.data_class = "none";
  measured.cases[0].foretold = Estimate{111, 90, 130};
  EXPECT_EQ(
      refusals(predicted, measured),
      (std::vector<std::string>{
          "m.csv is of class 'none', none of measured, reported, synthetic: nothing was measured",
          "p.csv is of build 'other' and m.csv of 'b'",
          "p.csv is of 2026-01-03, after the measurement of 2026-01-02",
          "m.csv: a was measured against another prediction"}));
  predicted.date.clear();
  EXPECT_EQ(refusals(predicted, measured)[2],
            "p.csv has no date, so nothing says which came first");
}

constexpr const char* kPredictedCsv =
    "# build: b\n# date: 2026-01-01\nname,predicted_ns,low_ns,high_ns\na,2000,1000,4000\n";
constexpr const char* kMeasuredCsv =
    "# build: b\n# date: 2026-01-02\n# class: synthetic\n# device: none\n"
    "name,measured_ns,noise,roofline_ns,sum_ns\na,2000,0.01,1000,3000\nb,5000,,,\n";

TEST(ScoredFiles, ReadCsv) {
  Diagnostics diagnostics;
  const PredictedTimes predicted = read_predicted_times("p.csv", kPredictedCsv, diagnostics);
  const MeasuredTimes measured = read_measured_times("m.csv", kMeasuredCsv, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_EQ(predicted.build_id, "b");
  EXPECT_EQ(predicted.date, "2026-01-01");
  ASSERT_EQ(predicted.cases.size(), 1U);
  EXPECT_DOUBLE_EQ(predicted.cases[0].time.value, 2e-6);
  EXPECT_DOUBLE_EQ(predicted.cases[0].time.high, 4e-6);
  EXPECT_EQ(measured.data_class, "synthetic");
  ASSERT_EQ(measured.cases.size(), 2U);
  EXPECT_DOUBLE_EQ(measured.cases[0].seconds, 2e-6);
  EXPECT_EQ(measured.cases[0].noise, 0.01);
  EXPECT_DOUBLE_EQ(*measured.cases[0].sum, 3e-6);
  EXPECT_FALSE(measured.cases[1].roofline);
}

TEST(ScoredFiles, TakeTimesInEveryUnit) {
  Diagnostics diagnostics;
  const PredictedTimes predicted = read_predicted_times(
      "p.csv", "name,predicted_us,low_ns,high_ms\na,2,1000,0.004\n", diagnostics);
  const MeasuredTimes measured = read_measured_times(
      "m.csv", "name,measured_ms,roofline_us,sum_s\na,0.002,1,0.003\n", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_DOUBLE_EQ(predicted.cases[0].time.value, 2e-6);
  EXPECT_DOUBLE_EQ(predicted.cases[0].time.low, 1e-6);
  EXPECT_DOUBLE_EQ(predicted.cases[0].time.high, 4e-6);
  EXPECT_DOUBLE_EQ(measured.cases[0].seconds, 2e-6);
  EXPECT_DOUBLE_EQ(*measured.cases[0].roofline, 1e-6);
  EXPECT_DOUBLE_EQ(*measured.cases[0].sum, 3e-3);
}

TEST(ScoredFiles, SayWhatIsMissingOrCannotBe) {
  Diagnostics diagnostics;
  read_measured_times("m.csv", "name,time_us\na,3\n", diagnostics);
  read_measured_times("n.csv", "# date: today\n# level: a\n# level: b\nname,measured_s\na,1e6\n",
                      diagnostics);
  read_predicted_times("p.json",
                       R"({"schema": "tiersim.predictions/v1", "build_id": "b", "date": "foo",
 "predictions": []})",
                       diagnostics);
  EXPECT_EQ(diagnostics.text(),
            "m.csv:1:1: error: no column has what was measured (measured_ns, measured_us, "
            "measured_ms or measured_s; timings of kernels have 'kernel' and a time)\n"
            "n.csv:1:1: error: 'today' is no date (a day, 2026-01-31, or a time, "
            "2026-01-31T12:00:00Z)\n"
            "n.csv:3:1: error: setting 'level' stands twice\n"
            "n.csv:5:3: error: measured_s: '1e6' is not below 1000000 s\n"
            "p.json:1:55: error: date: 'foo' is no date (a day, 2026-01-31, or a time, "
            "2026-01-31T12:00:00Z)\n");
}

TEST(ScoredFiles, ReadACampaign) {
  const std::string text = R"({"context": {"stage": "composition", "date": "2026-01-02T03:04:05Z",
    "class": "measured", "build": {"id": "b"}, "device": {"name": "card"}},
    "benchmarks": [{"name": "f1", "real_time": 1000, "time_unit": "ns",
      "total": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010},
      "sum_of_medians_ns": 900, "roofline_ns": 500,
      "prediction": {"median_ns": 800, "low_ns": 700, "high_ns": 900}}]})";
  Diagnostics diagnostics;
  const MeasuredTimes measured = read_measured_times("composition.json", text, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_EQ(measured.level, "sequence");
  ASSERT_EQ(measured.cases.size(), 1U);
  EXPECT_DOUBLE_EQ(measured.cases[0].seconds, 1e-6);
  EXPECT_NEAR(measured.cases[0].noise, 0.01, kRounding);  // 20 / 2 of 1000
  EXPECT_DOUBLE_EQ(*measured.cases[0].roofline, 5e-7);
  ASSERT_TRUE(measured.cases[0].foretold);
  EXPECT_DOUBLE_EQ(measured.cases[0].foretold->low, 7e-7);
}

TEST(ScoredFiles, TakeTimingsWithTheirRooflines) {
  // 1 GB at 1000 GB/s are 1 ms, 3 TFLOP at 1000 TFLOP/s are 3 ms; warm, only arithmetic counts.
  const std::string text =
      "# device: card\n# date: 2026-01-02\n# class: reported\n# build: b\n"
      "# peak.memory: 1000 GB/s\n# peak.flops.bf16: 1000 TFLOP/s\n"
      "name,kernel,dtype,temperature,memory_bytes,flops,time_us\n"
      "a,k,bf16,cold,1000000000,0,2000\nb,k,bf16,cold,1000000000,3000000000000,4000\n"
      "b,k,bf16,warm,1000000000,500000000000,3500\n";
  Diagnostics diagnostics;
  const MeasuredTimes measured = read_measured_times("t.csv", text, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  ASSERT_EQ(measured.cases.size(), 3U);
  EXPECT_EQ(measured.level, "kernel");
  EXPECT_EQ(measured.cases[0].name, "a");
  EXPECT_NEAR(measured.cases[0].seconds, 2e-3, kRounding);
  EXPECT_NEAR(*measured.cases[0].roofline, 1e-3, kRounding);
  EXPECT_NEAR(*measured.cases[1].roofline, 3e-3, kRounding);
  EXPECT_EQ(measured.cases[2].name, "b/warm");
  EXPECT_NEAR(*measured.cases[2].roofline, 0.5e-3, kRounding);
}

TEST(ScoredFiles, ReportEveryMistakeOfACsvAtItsPlace) {
  Diagnostics diagnostics;
  read_predicted_times("p.csv", "name,predicted_ns,low_ns,hig_ns\na,2,3,4\nb,x,1,2\n", diagnostics);
  EXPECT_EQ(diagnostics.text(),
            "p.csv:1:1: error: there is no column 'high_ns' (the columns are: name, predicted_ns, "
            "low_ns, high_ns)\n"
            "p.csv:1:26: error: there is no column 'hig_ns' in such a file (did you mean "
            "'high_ns'?)\n"
            "p.csv:3:3: error: predicted_ns: 'x' is no number of at least 0\n");
}

TEST(ScoredFiles, ReportEveryMistakeOfMeasurements) {
  Diagnostics diagnostics;
  read_measured_times("m.csv", "name,measured_ns,noise\na,,0.1\na,1e-9,0.1\n,5,-1\nb,1\n",
                      diagnostics);
  EXPECT_EQ(diagnostics.text(),
            "m.csv:2:3: error: measured_ns: is empty\n"
            "m.csv:3:1: error: a: stands twice\n"
            "m.csv:3:3: error: measured_ns: '1e-9' is no number of at least 0.001\n"
            "m.csv:4:1: error: has no name\n"
            "m.csv:4:4: error: noise: '-1' is no number of at least 0\n"
            "m.csv:5:1: error: 2 cells, but the header has 3\n");
}

TEST(ScoredFiles, RefuseIntervalsWithoutTheirValueAndRepeatedNames) {
  Diagnostics diagnostics;
  read_predicted_times("p.csv",
                       "name,predicted_ns,low_ns,high_ns\na,2,3,4\nb,2,1,4\nb,2,1,4\nc,0,0,1\n",
                       diagnostics);
  EXPECT_EQ(diagnostics.text(),
            "p.csv:2:1: error: a: not 0 < low <= predicted <= high\n"
            "p.csv:4:1: error: b: stands twice\n"
            "p.csv:5:1: error: c: not 0 < low <= predicted <= high\n");
}

TEST(ScoredFiles, RefuseWhatIsNoComposition) {
  Diagnostics diagnostics;
  read_measured_times("m.json",
                      R"({"context": {"stage": "composition", "date": "d", "class": "none",
 "build": {"id": "b"}, "device": {"name": "card"}},
"benchmarks": [{"name": "k", "real_time": 0, "time_unit": "us", "sum_of_medians_ns": 0,
 "roofline_ns": 1, "total": {"median_ns": 1, "low_ns": 1}}]})",
                      diagnostics);
  const std::string text = diagnostics.text();
  for (const char* expected : {"m.json:3:", "time_unit", "real_time", "m.json:4:", "high_ns"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nis not in:\n" << text;
}

TEST(ScoredFiles, RefuseWhatIsNoPrediction) {
  Diagnostics diagnostics;
  read_predicted_times("p.json",
                       R"({"schema": "other", "build_id": "b",
"predictions": [{"name": "k", "median_ns": 1, "low_ns": 2, "high_ns": 3}]})",
                       diagnostics);
  const std::string text = diagnostics.text();
  for (const char* expected : {"p.json:1:", "schema", "k: not 0 < low <= predicted <= high"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nis not in:\n" << text;
}

}  // namespace
}  // namespace tiersim::calibrate_scoring_test
