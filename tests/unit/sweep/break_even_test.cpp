// Break-even of steps whose answer is known without a simulation: a reference that differs from the
// point in the searched setting alone is equalled at the reference's own value, in every draw.
#include "sim/sweep/break_even.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "sim/step/importers.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tiersim::break_even_test {
namespace {

class BreakEvenTest : public ::testing::Test {
 protected:
  // `variants` and `question` are lines of YAML.
  std::map<std::string, BreakEvenRecord> answers(const std::string& question,
                                                 const std::string& reading = "all") {
    const auto file = folder_.path() / "spec.yaml";
    std::ofstream(file) << R"(schema: tiersim.sweep/v1
name: known answers
scenario: scenarios/methods/llama3_8b_maple.yaml
set: [step.batch=4, uncertainty.draws=20]
reading: )" << reading << R"(
axes:
  - name: machine
    variants:
      - {label: as it is}
      - {label: four times, set: [what_if.far_bandwidth=4]}
      - {label: far faster, set: [step.batch=1, what_if.far_bandwidth=1000]}
      - {label: far slower, set: [what_if.far_bandwidth=0.001]}
      - {label: too large, set: [step.batch=100000]}
      - {label: more draws, set: [uncertainty.draws=30]}
      - {label: dense, scenario: scenarios/methods/llama3_8b_dense_hbm.yaml}
  - {key: step.context, values: [8192, 16384]}
exclude: [{machine: four times, context: 16384}]
)" << question;
    const LoadOptions options{.config_root = std::string(TIERSIM_SOURCE_DIR) + "/configs",
                              .importers = make_all_importers()};
    Diagnostics diagnostics;
    const auto plan = SweepPlan::make(file, options, diagnostics);
    EXPECT_TRUE(plan) << diagnostics.text();
    std::map<std::string, BreakEvenRecord> out;
    if (!plan) return out;
    BreakEvenSolver solver(plan->loader(), *plan->break_even(), plan->config().reading);
    plan->space().for_each([&](const SpacePoint& point) {
      const std::string json = solver.answer(point);
      if (json.empty()) return true;
      auto answer = read_break_even(json);
      EXPECT_TRUE(answer) << json;
      out.emplace(point.labels[0] + '/' + point.labels[1], *std::move(answer));
      return true;
    });
    return out;
  }

  static std::string against(const std::string& reference, const std::string& metric) {
    return "break_even: {axis: machine, against: {as it is: " + reference +
           "}, key: what_if.far_bandwidth, between: [0.01, 100], " + metric + "}\n";
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(BreakEvenTest, IsTheValueOfAReferenceThatDiffersInItAlone) {
  for (const char* metric : {"maximize: throughput", "minimize: tpot"}) {
    const auto found = answers(against("four times", metric));
    ASSERT_EQ(found.size(), 2u);
    const BreakEvenRecord& answer = found.at("as it is/8192");
    EXPECT_EQ(answer.outcome, BreakEvenOutcome::found);
    EXPECT_TRUE(answer.rises);
    EXPECT_NEAR(*answer.value, 4, 4e-6 + 4e-5);  // kSolveTolerance, and a step counted in ps
    // All numbers are shared and drawn equally, so that no draw moves the answer by more than the
    // search's 0.2 %.
    ASSERT_TRUE(answer.ci95);
    EXPECT_EQ(answer.draws, 20);
    EXPECT_NEAR(answer.ci95->low, 4, 0.008 + 0.008);
    EXPECT_NEAR(answer.ci95->high, 4, 0.008 + 0.008);
    // The reference at 16384 is excluded.
    EXPECT_EQ(found.at("as it is/16384").outcome, BreakEvenOutcome::no_reference);
  }
}

TEST_F(BreakEvenTest, OfAReferenceBeyondTheRangeIsNeverOrAlways) {
  const auto never = answers(against("far faster", "minimize: tpot"));
  EXPECT_EQ(never.at("as it is/8192").outcome, BreakEvenOutcome::never);
  EXPECT_FALSE(never.at("as it is/8192").value);
  EXPECT_EQ(never.at("as it is/8192").ci95, (Interval<double>{100, 100}));
  const auto always = answers(against("far slower", "maximize: throughput"));
  EXPECT_EQ(always.at("as it is/8192").outcome, BreakEvenOutcome::always);
  EXPECT_EQ(always.at("as it is/8192").ci95, (Interval<double>{0.01, 0.01}));
}

TEST_F(BreakEvenTest, OfAReferenceThatDoesNotFitSaysWhatDoesNot) {
  const auto only = answers(against("too large", "maximize: throughput"));
  const BreakEvenRecord& answer = only.at("as it is/8192");
  EXPECT_EQ(answer.outcome, BreakEvenOutcome::only);
  EXPECT_NE(answer.why.find("the largest batch that fits is"), std::string::npos) << answer.why;
  EXPECT_EQ(answer.reference, "too large");
}

TEST_F(BreakEvenTest, PointsOfOneReferenceMayHaveOtherDraws) {
  const auto found = answers(
      "break_even: {axis: machine, against: {as it is: four times, more draws: four times}, key: "
      "what_if.far_bandwidth, between: [0.01, 100], minimize: tpot}\n");
  EXPECT_EQ(found.at("as it is/8192").draws, 20);
  const BreakEvenRecord& more = found.at("more draws/8192");
  EXPECT_EQ(more.draws, 30);
  ASSERT_TRUE(more.value && more.ci95);
  EXPECT_NEAR(*more.value, 4, 4e-5);
  EXPECT_NEAR(more.ci95->low, 4, 0.016);
  EXPECT_NEAR(more.ci95->high, 4, 0.016);
}

TEST_F(BreakEvenTest, APointThatDoesNotTakeTheSettingSaysSo) {
  const auto found = answers(
      "break_even: {axis: machine, against: {as it is: four times, dense: four times}, key: "
      "method.budget, between: [0.03125, 0.5], minimize: tpot}\n",
      "times");
  EXPECT_NE(found.at("as it is/8192").outcome, BreakEvenOutcome::failed);
  EXPECT_EQ(found.at("dense/8192").outcome, BreakEvenOutcome::failed);
  EXPECT_NE(found.at("dense/8192").why.find("budget"), std::string::npos)
      << found.at("dense/8192").why;
}

TEST_F(BreakEvenTest, OfASettingWithAUnitIsShownInIt) {
  const auto found = answers(
      "break_even: {axis: machine, against: {as it is: four times}, key: "
      "system.links.pcie.latency, between: [10 ns, 100 us], minimize: tpot}\n",
      "times");
  const BreakEvenRecord& answer = found.at("as it is/8192");
  EXPECT_FALSE(answer.plain);
  ASSERT_GE(answer.shown.size(), 2u);
  EXPECT_EQ(answer.shown[0], "10 ns");
  EXPECT_EQ(answer.shown[1], "100 us");
}

TEST_F(BreakEvenTest, WithoutIntervalsHasNoDraws) {
  const auto found = answers(against("four times", "maximize: throughput"), "times");
  EXPECT_NEAR(*found.at("as it is/8192").value, 4, 4e-5);
  EXPECT_FALSE(found.at("as it is/8192").ci95);
}

// The bandwidth is the factor times the capacity of the channel at a factor of 1.
TEST(BreakEvenRecord, GivesMetricsWhereAValueWasFound) {
  BreakEvenRecord answer{.reference = "H200", .low = 0.01, .high = 100, .value = 2};
  answer.ci95 = {1.5, 3};
  answer.channel = "sm.to_gpu";
  answer.channel_bytes_per_s = 10e9;
  const auto again = read_break_even(to_json(answer));
  ASSERT_TRUE(again);
  const auto metrics = break_even_metrics(*again);
  EXPECT_EQ(metrics.at("break_even_factor").value, 2);
  EXPECT_EQ(metrics.at("break_even_factor").ci95, (Interval<double>{1.5, 3}));
  EXPECT_EQ(metrics.at("break_even_bytes_per_s").value, 20e9);
  EXPECT_EQ(metrics.at("break_even_bytes_per_s").ci95, (Interval<double>{15e9, 30e9}));
  answer.outcome = BreakEvenOutcome::never;
  EXPECT_TRUE(break_even_metrics(answer).empty());
  EXPECT_FALSE(read_break_even("{}"));
  EXPECT_FALSE(read_break_even("[1"));
}

}  // namespace
}  // namespace tiersim::break_even_test
