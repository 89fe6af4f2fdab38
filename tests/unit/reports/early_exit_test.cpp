// Cells and engines of early exit from invented runs, against arithmetic by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/papers/early_exit/batch_sweep.hpp"
#include "reports/papers/early_exit/cell_view.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::early_exit_test {
namespace {

ExitCell full_cell(double tokens_per_s, double latency_s) {
  return {.technique = ExitTechnique::full, .tokens_per_s = tokens_per_s, .latency_s = latency_s};
}
ExitCell state_cell(double tokens_per_s, double latency_s, double rate) {
  return {.technique = ExitTechnique::state,
          .tokens_per_s = tokens_per_s,
          .latency_s = latency_s,
          .exit_rate = rate};
}

// The two full cells of the paper: 244.87 and 196.76 in flight.
TEST(HostEvidence, TheLineThroughThePrintedCellsHasANegativeTime) {
  const ExitCell small = full_cell(1046.47, 0.234);
  const ExitCell base = full_cell(1117.96, 0.176);
  EXPECT_NEAR(in_flight(small), 244.87, 0.01);
  EXPECT_NEAR(in_flight(base), 196.76, 0.01);
  const HostFit fit = host_through(small, 0, base, 0);
  EXPECT_NEAR(fit.intercept_s, -0.061, 0.0005);
  EXPECT_NEAR(fit.slope_s, 0.058 / 48.11, 1e-6);
  EXPECT_FALSE(fit.usable());
}

// 10 ms + 1 ms a sequence, beside 2 and 4 ms of the GPU: t = 32 ms at N = 20, 54 at 40.
TEST(HostEvidence, ALineThatIsThereIsFound) {
  const ExitCell a = full_cell(20 / 0.032, 0.032);
  const ExitCell b = full_cell(40 / 0.054, 0.054);
  const HostFit fit = host_through(a, 0.002, b, 0.004);
  EXPECT_NEAR(fit.intercept_s, 0.010, 1e-12);
  EXPECT_NEAR(fit.slope_s, 0.001, 1e-12);
  EXPECT_TRUE(fit.usable());
  EXPECT_NEAR(host_needed_s(b, 0.004), 0.050, 1e-12);
}

// 100 in flight, 100 ms a step, 20 ms of it in layers: without them 100 / 80 ms = 1250 tokens/s.
TEST(HostEvidence, LayersExplainAtMostTheirOwnTime) {
  const ExitCell full = full_cell(1000, 0.1);
  EXPECT_NEAR(bound_without_layers(full, 0.02), 1250, 1e-9);
  EXPECT_NEAR(*explained_share(state_cell(1500, 0.05, 0.5), full, 0.02), 0.5, 1e-12);
  EXPECT_EQ(*explained_share(state_cell(1200, 0.05, 0.5), full, 0.02), 1);
  EXPECT_FALSE(explained_share(state_cell(900, 0.05, 0.5), full, 0.02));
  // 1.25 times as fast is a fifth less time; with half of the layers skipped, 2/5 has to scale.
  EXPECT_NEAR(*scaling_share(state_cell(1250, 0.05, 0.5), full), 0.4, 1e-12);
  EXPECT_FALSE(scaling_share(full, full));
}

// Two models of two cells. Served with the host of full: full is met, state is 10 % faster.
CellResults two_models(double printed_state) {
  const auto model = [&](const std::string& label, ExitCell full) {
    return ExitModel{
        .label = label, .serving = "x.yaml", .cells = {full, state_cell(printed_state, 0.1, 0.5)}};
  };
  CellResults r;
  r.targets = {
      .id = "ee",
      .where = "Figure",
      .near = 0.1,
      .correlations = {0, 0.5, 1},
      .models = {model("a", full_cell(1046.47, 0.234)), model("b", full_cell(1117.96, 0.176))},
      .evidence = {.intercept_ms = -61, .near_null = 2, .says = "impossible"},
      .headline = {.throughput = 1.25, .near = 0.1, .latency = 3.39}};
  for (const ExitModel& of : r.targets.models) {
    const double full = of.cells.front().tokens_per_s;
    const auto run = [](double tokens) {
      return ExitServed{
          .tokens_per_s = tokens, .latency_s = 200 / tokens, .in_flight = 200, .layers = 4};
    };
    r.models.push_back(
        {.host_sequence_s = 9e-4,
         .step_s = 0.005,
         .layers_s = 0.004,
         .layers = 8,
         .cells = {{.users = 200, .own = {run(full)}, .alone = {run(1e5)}, .shipped = {run(2e4)}},
                   {.users = 100,
                    .own = {run(1.08 * full), run(1.1 * full), run(1.12 * full)},
                    .alone = {run(1.2e5), run(1.3e5), run(1.4e5)},
                    .shipped = {run(2e4), run(2e4), run(2e4)}}}});
  }
  return r;
}

const TargetResult& result_of(const ReportSection& section, const std::string& id) {
  const auto at = std::ranges::find(section.results, id, &TargetResult::id);
  EXPECT_NE(at, section.results.end()) << id;
  return *at;
}

TEST(CellSection, SaysOfEveryCellWhatItIs) {
  const ReportSection near = section_of(two_models(1170));
  EXPECT_EQ(result_of(near, "ee.throughput_tokens_per_s.a.full").status, "input");
  const TargetResult& state = result_of(near, "ee.throughput_tokens_per_s.a.state");
  EXPECT_EQ(state.status, "prediction");
  EXPECT_NEAR(state.simulated, 1.1 * 1046.47, 1e-9);  // at correlation 0.5
  EXPECT_EQ(result_of(near, "ee.inner_token_latency_s.a.state").status, "consistency");
  const TargetResult& flight = result_of(near, "ee.sequences_in_flight.b.full");
  EXPECT_EQ(flight.status, "consistency");
  EXPECT_NEAR(flight.paper, 196.76, 0.01);
}

// 10 % of 1340 is 134: 1.08 * 1117.96 = 1207 is 133 off, 1.08 * 1046.47 = 1130 is 210 off.
TEST(CellSection, APredictionIsNearAtEveryCorrelation) {
  const ReportSection far = section_of(two_models(1340));
  EXPECT_EQ(result_of(far, "ee.throughput_tokens_per_s.a.state").status, "unexplained");
  EXPECT_EQ(result_of(far, "ee.throughput_tokens_per_s.b.state").status, "prediction");
  EXPECT_EQ(result_of(section_of(two_models(1345)), "ee.throughput_tokens_per_s.b.state").status,
            "unexplained");
}

TEST(CellSection, ShowsTheFailedFitAndNeverPassesANegativeHost) {
  CellResults r = two_models(1100);
  const ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "ee.host_fit.intercept").status, "shape");
  EXPECT_EQ(result_of(section, "ee.host_fit.a").status, "input");
  EXPECT_EQ(result_of(section, "ee.host_fit.near_without_early_exit").status, "shape");
  r.models[0].host_sequence_s = -1e-6;
  EXPECT_EQ(result_of(section_of(r), "ee.host_fit.a").status, "fail");
  r.targets.evidence.intercept_ms = 5;
  EXPECT_EQ(result_of(section_of(r), "ee.host_fit.intercept").status, "fail");
}

TEST(CellSection, OtherReadingsOfACellHaveIdsOfTheirOwnAndDoNotCount) {
  CellResults r = two_models(1100);
  r.targets.models[0].cells[1].variant = "rate_50";
  r.targets.models[0].cells[1].counted = false;
  r.targets.evidence.near_null = 1;
  const ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "ee.throughput_tokens_per_s.a.state.rate_50").status, "prediction");
  EXPECT_EQ(result_of(section, "ee.host_fit.near_without_early_exit").simulated, 1);
}

TEST(CellSection, ExplainsTheHeadlineOnlyWithAServerLikeThePapers) {
  const ReportSection section = section_of(two_models(1170));
  const TargetResult& throughput = result_of(section, "ee.headline.throughput");
  EXPECT_NEAR(throughput.simulated, 1.12, 1e-12);  // not the 1.4 of the GPU alone
  EXPECT_EQ(throughput.status, "unexplained");
  EXPECT_EQ(result_of(section, "ee.headline.latency").status, "consistency");
  const auto json = nlohmann::json::parse(section.json);
  EXPECT_EQ(json.size(), 4U);
  EXPECT_EQ(json[1]["what"], "prediction");
  EXPECT_EQ(json[1]["host_of_full"][2]["correlation"], 1.0);
}

BatchSweepResult engine() {
  BatchSweepResult r;
  r.engine = {.id = "early_exit.engine.t",
              .title = "T",
              .batches = {1, 8, 64},
              .correlations = {0, 1},
              .cases = {{.label = "full", .exit = {}},
                        {.label = "state",
                         .exit = {.technique = ExitTechnique::state,
                                  .depths = ExitDepthConfig{.exit_rate = 0.5}}}}};
  r.layers = 8;
  // Steps of 8 ms; state 4, 8 and 10 at correlation 0, and 4 throughout at 1.
  for (const double state : {4.0, 8.0, 10.0, 4.0, 4.0, 4.0}) {
    r.points.push_back({.step_s = 8e-3, .tokens_per_s = 1, .layers = 8});
    r.points.push_back({.step_s = 1e-3 * state, .tokens_per_s = 2, .layers = state / 2});
  }
  return r;
}

TEST(BatchSweepSection, SaysWhereEarlyExitPays) {
  const ReportSection section = section_of(engine());
  const testing::Texts table = testing::shown(section.tables.front().table);
  EXPECT_EQ(table[0], (std::vector<std::string>{"full [ms]", "", "8.000", "8.000", "8.000", ""}));
  EXPECT_EQ(table[1], (std::vector<std::string>{"state", "0", "2.00", "1.00", "0.80", "1"}));
  EXPECT_EQ(table[2], (std::vector<std::string>{"state", "1", "2.00", "2.00", "2.00", "1 to 64"}));
  const testing::Texts rates = testing::shown(section.tables[2].table);
  EXPECT_EQ(rates[0], (std::vector<std::string>{"state", "0", "0.500", "0.750", "0.500", "0.375"}));
  EXPECT_EQ(section.figures.front().name, "engine_t.svg");
}

// A third way has the second one's tokens and another rule: 6 ms throughout.
TEST(BatchSweepSection, SaysWhichRuleWinsForTheSameTokens) {
  BatchSweepResult r = engine();
  EXPECT_EQ(section_of(r).tables.size(), 3U);  // speed-ups for people, points for CSV, rates
  ExitCase alone = r.engine.cases[1];
  alone.label = "state, alone";
  alone.exit.rule = ExitRule::per_sequence;
  r.engine.cases.push_back(alone);
  std::vector<ExitPoint> points;
  for (std::size_t i = 0; i < r.points.size(); i += 2) {
    points.insert(points.end(), {r.points[i], r.points[i + 1], {.step_s = 6e-3, .layers = 4}});
  }
  r.points = points;
  const testing::Texts rules = testing::shown(section_of(r).tables[3].table);
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0],
            (std::vector<std::string>{"state", "0", "all_rows", "per_sequence", "per_sequence"}));
  EXPECT_EQ(rules[1], (std::vector<std::string>{"state", "1", "all_rows", "all_rows", "all_rows"}));
}

TEST(BatchSweepSection, HoldsItsChecks) {
  BatchSweepResult r = engine();
  r.engine.checks = {{.id = "pays",
                      .says = "",
                      .of_case = "state",
                      .correlation = 1,
                      .from = 1,
                      .to = 64,
                      .at_least = 1.5,
                      .why = ""},
                     {.id = "loses",
                      .says = "",
                      .of_case = "state",
                      .from = 64,
                      .to = 64,
                      .at_most = 1,
                      .why = ""}};
  const ReportSection section = section_of(r);
  EXPECT_EQ(section.results[0].status, "shape");
  EXPECT_EQ(section.results[1].status, "fail");  // not at correlation 1
  EXPECT_NEAR(section.results[1].simulated, 2, 1e-12);
}

TEST(BatchSweepSection, ShowsWhatCannotRun) {
  BatchSweepResult r = engine();
  r.points[5] = {.problem = "does not fit"};
  EXPECT_EQ(testing::shown(section_of(r).tables.front().table)[1][4], "-");
  EXPECT_EQ(testing::shown(section_of(r).tables[2].table)[0][5], "-");
  EXPECT_EQ(nlohmann::json::parse(section_of(r).json)[5]["problem"], "does not fit");
}

}  // namespace
}  // namespace tiersim::early_exit_test
