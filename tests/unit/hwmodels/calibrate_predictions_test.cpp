// Composed sequences from fits: schedules worked out by hand, and the origin of their intervals.
#include "hwmodels/calibrate/fit/predictions.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tiersim::calibrate_predictions_test {
namespace {

// For times near 1: a few sums and quotients of doubles.
constexpr double kRounding = 1e-12;

ScheduledStep step(double seconds, double share, std::size_t stream = 0,
                   std::vector<std::size_t> after = {}) {
  return {.seconds = seconds, .shares = {share}, .stream = stream, .after = std::move(after)};
}

TEST(Schedule, AddsUpTheStepsOfOneStream) {
  EXPECT_EQ(schedule({step(1, 1), step(2, 1), step(4, 0.5)}), 7);
  EXPECT_EQ(schedule({}), 0);
}

TEST(Schedule, RunsTwoStreamsAtOnceWhereTheyShareNothing) {
  EXPECT_EQ(schedule({step(3, 0), step(2, 0, 1)}), 3);
  EXPECT_EQ(schedule({step(3, 0.5), step(2, 0.5, 1)}), 3);  // together just the peak
}

// Both ask for the whole peak: each runs at half its speed while the other is there.
TEST(Schedule, TakesTheSharedPeakForAllBytes) {
  EXPECT_NEAR(schedule({step(3, 1), step(2, 1, 1)}), 5, kRounding);
  EXPECT_NEAR(schedule({step(2, 1), step(1, 1, 1), step(1, 1, 1)}), 4, kRounding);
  // .8 and .6 are 1.4 times the peak: 2 s of both take 2.8, then 1 s of the first alone.
  EXPECT_NEAR(schedule({step(3, 0.8), step(2, 0.6, 1)}), 3.8, kRounding);
}

TEST(Schedule, WaitsForWhatAStepComesAfter) {
  // Stream 1 begins when step 0 has ended, and overlaps step 1.
  EXPECT_EQ(schedule({step(1, 0), step(2, 0), step(5, 0, 1, {0})}), 6);
  EXPECT_EQ(schedule({step(1, 0), step(2, 0), step(5, 0, 1, {1})}), 8);
  // And stream 0 for stream 1.
  EXPECT_EQ(schedule({step(1, 0), step(4, 0, 1), step(1, 0, 0, {1})}), 5);
}

// A kernel of t = 1 us + bytes / (1 TB/s), known to 10 %.
KernelFit fit_of(const std::string& kernel) {
  KernelFit fit;
  fit.kernel = kernel;
  fit.best = {.t0 = 1e-6, .bandwidth = 1e12, .peak = 1e30, .sharpness = 1};
  fit.misfit = {1, 0.9, 1.1};
  return fit;
}

PlannedPart part_of(const std::string& name, double megabytes) {
  PlannedPart part;
  part.kernel.name = name;
  part.kernel.kernel = "read";
  part.kernel.dtype = "bf16";
  part.kernel.work.memory_bytes = megabytes * 1e6;
  part.timed_as = name;
  return part;
}

TimingSet peaks_only() {
  TimingSet set;
  set.peaks.push_back({.name = "memory", .value = 1e12, .source = "planted"});
  return set;
}

SequencePredictions predicted(const PlannedSequence& sequence, const TimingSet& set) {
  return predict_sequences({"b", {sequence}}, set, {{fit_of("read bf16")}, {}});
}

TEST(PredictSequences, ChainsTheFits) {
  // 9 MB and 4 MB: 10 us and 5 us; the first three times.
  const PlannedSequence chain{"f",
                              "",
                              {part_of("a", 9), part_of("b", 4)},
                              {{0, 0, {}}, {0, 0, {}}, {1, 0, {}}, {0, 0, {}}}};
  const auto made = predicted(chain, peaks_only());
  ASSERT_EQ(made.times.cases.size(), 1U);
  const Estimate time = made.times.cases[0].time;
  EXPECT_NEAR(time.value, 35e-6, 1e-17);
  // 10 % up: 3 us of the first kernel, the same each time, and .5 of the second, in quadrature.
  EXPECT_NEAR(time.high - time.value, std::sqrt(9 + 0.25) * 1e-6, 1e-17);
  // And down.
  EXPECT_NEAR(time.value - time.low, std::sqrt(9 + 0.25) * 1e-6, 1e-17);
}

TEST(PredictSequences, OverlapIsBetweenNoSharingAndNoOverlap) {
  // Each of 10 us moves 9 MB, .9 of the peak: together 18 us, at best 10, as a chain 20.
  const PlannedSequence two{"f", "", {part_of("a", 9), part_of("b", 9)}, {{0, 0, {}}, {1, 1, {}}}};
  TimingSet set = peaks_only();
  const Estimate time = predicted(two, set).times.cases[0].time;
  EXPECT_NEAR(time.value, 18e-6, 1e-17);
  EXPECT_GE(time.high, 20e-6);
  EXPECT_LE(time.low, 10e-6);
  // The fit's rate stands before the data sheet's: two times 9 MB at 1.2 TB/s.
  KernelFit fit = fit_of("read bf16");
  fit.best.bandwidth = 1.2e12;
  fit.best.t0 = 2.5e-6;  // 10 us again
  fit.has_bandwidth = true;
  const auto by_fit = predict_sequences({"b", {two}}, set, {{fit}, {}});
  EXPECT_NEAR(by_fit.times.cases[0].time.value, 15e-6, 1e-17);
  // And a measured ceiling before both: 1.8 TB/s are enough for both.
  set.peaks.push_back({.name = "memory", .value = 1.8e12, .hard = false, .source = "planted"});
  EXPECT_NEAR(predicted(two, set).times.cases[0].time.value, 10e-6, 1e-17);
}

TEST(PredictSequences, TwoInstancesOfACaseAreWrongTogether) {
  // On one stream, so nothing overlaps: 20 us, 2 us off, not sqrt(2) of them.
  const PlannedSequence twins{
      "f", "", {part_of("a", 9), part_of("a", 9)}, {{0, 0, {}}, {1, 0, {}}}};
  const Estimate time = predicted(twins, peaks_only()).times.cases[0].time;
  EXPECT_NEAR(time.high - time.value, 2e-6, 1e-17);
}

TEST(PredictSequences, AKernelWithoutAFitStandsForItself) {
  PlannedPart other = part_of("c", 9);
  other.kernel.kernel = "gather";
  TimingSet set = peaks_only();
  TimingCase timing = other.kernel;
  timing.name = "c/cold";
  timing.seconds = 7e-6;
  timing.low = 6.9e-6;
  timing.high = 7.1e-6;
  timing.repeat_noise = 0.1;
  TimingCase warm = timing;
  warm.name = "c/warm";
  warm.temperature = Temperature::warm;
  warm.seconds = 1e-6;
  set.cases.push_back(warm);
  set.cases.push_back(timing);
  const auto made = predicted({"f", "", {other}, {{0, 0, {}}}}, set);
  ASSERT_EQ(made.times.cases.size(), 1U);
  EXPECT_NEAR(made.times.cases[0].time.value, 7e-6, 1e-17);
  EXPECT_NEAR(made.times.cases[0].time.high, 7.7e-6, 1e-17);
  EXPECT_EQ(made.notes, std::vector<std::string>{"c stands for itself: its kernel has no fit"});
}

TEST(PredictSequences, AFitOfMemorySaysNothingOfTheLink) {
  PlannedPart other = part_of("c", 9);
  other.kernel.work.link_read_bytes = 1e6;
  EXPECT_EQ(predicted({"f", "", {other}, {{0, 0, {}}}}, peaks_only()).left_out.size(), 1U);
}

TEST(PredictSequences, SaysWhatItCannotPredict) {
  PlannedPart other = part_of("c", 9);
  other.kernel.kernel = "gather";
  const auto untimed = predicted({"f", "", {other}, {{0, 0, {}}}}, peaks_only());
  ASSERT_EQ(untimed.left_out.size(), 1U);
  EXPECT_EQ(untimed.left_out[0].why, "c has neither fit nor timing");
  const auto missing = predicted({"f", "no case x", {}, {}}, peaks_only());
  ASSERT_EQ(missing.left_out.size(), 1U);
  EXPECT_EQ(missing.left_out[0].why, "no case x");
}

TEST(PredictSequences, AreWrittenAsTheCampaignReadsThem) {
  PredictedTimes times{.file = {}, .build_id = "b", .date = "2026-01-01", .cases = {}};
  times.cases.push_back({"f1", {1e-6, 0.5e-6, 2e-6}});
  EXPECT_EQ(to_json(times),
            "{\n \"schema\": \"tiersim.predictions/v1\",\n \"build_id\": \"b\",\n"
            " \"date\": \"2026-01-01\",\n \"predictions\": [\n  {\n   \"name\": \"f1\",\n"
            "   \"median_ns\": 1000,\n   \"low_ns\": 500,\n   \"high_ns\": 2000\n  }\n ]\n}\n");
}

std::string plan_text(const std::string& step) {
  return R"({"schema": "tiersim.composition_plan/v1", "build_id": "b", "sequences": [
{"name": "f", "experiment": "F1", "missing": "", "parts": [{"case": "a", "timed_as": "a",
 "kernel": "read", "variant": "x", "dtype": "bf16", "baseline": false, "shape": {"batch": 4},
 "work": {"read_bytes": 5, "written_bytes": 2, "link_read_bytes": 3, "link_written_bytes": 1,
  "requested_bytes": 9, "flops": 4, "issued_flops": 8}}],
"steps": [{"part": 0, "stream": 0, "after": []}, )" +
         step + "]}]}";
}

TEST(CompositionPlan, IsReadAsTheCampaignWroteIt) {
  Diagnostics diagnostics;
  const CompositionPlan plan = read_composition_plan(
      "plan.json", plan_text(R"({"part": 0, "stream": 1, "after": [0]})"), diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  ASSERT_EQ(plan.sequences.size(), 1U);
  const PlannedSequence& sequence = plan.sequences[0];
  ASSERT_EQ(sequence.parts.size(), 1U);
  EXPECT_EQ(sequence.parts[0].kernel.work.memory_bytes, 7);
  EXPECT_EQ(sequence.parts[0].kernel.work.link_read_bytes, 3);
  EXPECT_EQ(sequence.parts[0].kernel.work.flops, 8);
  ASSERT_EQ(sequence.steps.size(), 2U);
  EXPECT_EQ(sequence.steps[1].stream, 1U);
  EXPECT_EQ(sequence.steps[1].after, std::vector<std::size_t>{0});
}

TEST(CompositionPlan, RefusesStepsOfNothing) {
  Diagnostics diagnostics;
  read_composition_plan("plan.json", plan_text(R"({"part": 1, "stream": 2, "after": [1, -1]})"),
                        diagnostics);
  const std::string text = diagnostics.text();
  for (const char* expected :
       {"1 is not below 1", "2 is not below 2", "step 1 waits for step 1, which is no earlier one",
        "-1 is not a whole number of at least 0"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nis not in:\n" << text;
}

}  // namespace
}  // namespace tiersim::calibrate_predictions_test
