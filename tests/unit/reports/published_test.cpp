#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/published/published_text.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::published_test {
namespace {

constexpr Duration kMillisecond(std::int64_t{1'000'000'000});

// Two runs of a group: 1 and 100 users, of whom 50 fit.
PublishedRuns two_runs() {
  PublishedRuns runs;
  runs.groups = {{.id = "group",
                  .engine = "engine 1.0",
                  .setup = "model, one GPU",
                  .source = "a page",
                  .config = "serving/none.yaml",
                  .set = {"a=1"},
                  .requests_per_user = 5,
                  .assumed = "nothing",
                  .note = "no reason",
                  .wall = true,
                  .runs = {{.id = "few",
                            .users = 1,
                            .published = {.tpot = 10 * kMillisecond, .ttft = 100 * kMillisecond}},
                           {.id = "many",
                            .users = 100,
                            .set = {"b=2"},
                            .published = {.tpot = 20 * kMillisecond, .throughput = 400.0}}}}};
  return runs;
}

RunRecord record_of(double tpot, double ttft, double throughput) {
  RunRecord record;
  record.metrics = {{"tpot_s.mean", {.value = tpot, .unit = "s"}},
                    {"ttft_s.mean", {.value = ttft, .unit = "s"}},
                    {"throughput_tokens_per_s", {.value = throughput, .unit = "tokens/s"}}};
  record.serving.emplace();
  record.serving->capacity.positions = 5000;
  record.serving->capacity.max_sequences_full_length = 50;
  return record;
}

std::vector<PublishedOutcome> outcomes_of(const PublishedRuns& runs) {
  const PublishedGroup& group = runs.groups[0];
  return {score(runs, group, group.runs[0], record_of(0.0105, 0.07, 100)),
          score(runs, group, group.runs[1], record_of(0.016, 7, 420))};
}

TEST(PublishedRuns, AddUsersAndTheirRequestsToTheSettingsOfTheGroup) {
  const PublishedRuns runs = two_runs();
  const std::vector<std::string> expected{"a=1", "workload.arrivals.users=100",
                                          "workload.requests=500", "b=2"};
  EXPECT_EQ(settings_of(runs.groups[0], runs.groups[0].runs[1]), expected);
}

TEST(PublishedScore, ComparesEveryValueThatWasPrinted) {
  const PublishedRuns runs = two_runs();
  const std::vector<PublishedOutcome> outcomes = outcomes_of(runs);
  ASSERT_EQ(outcomes[0].cases.size(), 2U);
  EXPECT_EQ(outcomes[0].cases[0].id, "group.few.tpot");
  EXPECT_NEAR(outcomes[0].cases[0].error, 0.05, 1e-12);  // 10.5 of 10 ms
  EXPECT_TRUE(outcomes[0].cases[0].close);               // aim 10 %
  EXPECT_NEAR(outcomes[0].cases[1].error, -0.3, 1e-12);  // 70 of 100 ms
  EXPECT_FALSE(outcomes[0].cases[1].close);              // aim 20 %
  ASSERT_EQ(outcomes[1].cases.size(), 2U);
  EXPECT_EQ(outcomes[1].cases[1].id, "group.many.throughput");
  EXPECT_EQ(outcomes[1].cases[1].reference, 400);
  PublishedRuns more = two_runs();
  more.groups[0].runs[0].published.median_gap = 8 * kMillisecond;
  RunRecord record = record_of(0.0105, 0.07, 100);
  record.metrics["inter_token_latency_s.p50"] = {.value = 0.01, .unit = "s"};
  const PublishedOutcome gap = score(more, more.groups[0], more.groups[0].runs[0], record);
  ASSERT_EQ(gap.cases.size(), 3U);
  EXPECT_EQ(gap.cases[1].id, "group.few.median_gap");
  EXPECT_NEAR(gap.cases[1].error, 0.25, 1e-12);  // 10 of 8 ms
  EXPECT_EQ(gap.cases[1].aim, 0.1);
}

TEST(PublishedScore, SumsErrorsUpByMetric) {
  const PublishedRuns runs = two_runs();
  const PublishedErrors tpot = errors_of(outcomes_of(runs), PublishedMetric::tpot);
  EXPECT_EQ(tpot.count, 2);  // + 5 % and - 20 %
  EXPECT_EQ(tpot.close, 1);
  EXPECT_NEAR(tpot.signed_mean, -0.075, 1e-12);
  EXPECT_NEAR(tpot.median, 0.125, 1e-12);  // between the two
  EXPECT_NEAR(tpot.p90, 0.2, 1e-12);
  EXPECT_EQ(tpot.worst_case, "group.many.tpot");
}

TEST(PublishedScore, LeavesAnotherReadingOfTheSameRunsOutOfTheSummary) {
  PublishedRuns runs = two_runs();
  runs.groups[0].counted = false;
  const std::vector<PublishedOutcome> outcomes = outcomes_of(runs);
  EXPECT_EQ(errors_of(outcomes, PublishedMetric::tpot).count, 0);
  EXPECT_EQ(errors_of(outcomes, PublishedMetric::tpot, &runs.groups[0]).count, 2);
}

TEST(PublishedScore, SaysWhatASimulationHasNoValueOf) {
  const PublishedRuns runs = two_runs();
  RunRecord record = record_of(1, 1, 1);
  record.metrics.erase("ttft_s.mean");
  const PublishedOutcome outcome = score(runs, runs.groups[0], runs.groups[0].runs[0], record);
  EXPECT_EQ(outcome.problem, "has no ttft: no request that counts has one");
  EXPECT_TRUE(outcome.cases.empty());
  const auto json = nlohmann::json::parse(to_json(runs, {outcome}));
  EXPECT_EQ(json["runs"].size(), 2U);  // both values that were printed
  EXPECT_EQ(json["runs"][0]["why"], outcome.problem);
  EXPECT_TRUE(json["runs"][0]["simulated"].is_null());
}

TEST(PublishedText, WritesTheNamesThatOtherProgramsBuildOn) {
  const PublishedRuns runs = two_runs();
  const auto json = nlohmann::json::parse(to_json(runs, outcomes_of(runs)));
  const auto& one = json["runs"][1];
  EXPECT_EQ(one["id"], "few");
  EXPECT_EQ(one["group"], "group");
  EXPECT_EQ(one["metric"], "ttft");
  EXPECT_EQ(one["unit"], "s");
  EXPECT_EQ(one["aim"], 0.2);
  EXPECT_FALSE(one["within_aim"]);
  EXPECT_NEAR(one["measured"].get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(one["simulated"].get<double>(), 0.07, 1e-12);
  EXPECT_TRUE(one["low"].is_null() && one["high"].is_null());
  EXPECT_EQ(json["summary"]["tpot"]["within_aim"], 1);
  EXPECT_EQ(json["walls"][0]["points"][1]["users"], 100);
  EXPECT_EQ(json["walls"][0]["points"][1]["fitting"], 50);
}

TEST(PublishedText, PutsEveryValueBesideWhatWasPublished) {
  const PublishedRuns runs = two_runs();
  const std::string text = to_text(runs, outcomes_of(runs));
  for (const char* expected :
       {"group: engine 1.0, model, one GPU", "10.5 ms", "+5.0 %", "why: no reason",
        "room for 5000 positions, 50 sequences of full length", "1 of 2"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << '\n' << text;
}

}  // namespace
}  // namespace tiersim::published_test
