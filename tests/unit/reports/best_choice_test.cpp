// The best of a table of four points whose order and overlaps are seen at once.
#include "reports/html/best_choice.hpp"

#include <gtest/gtest.h>

#include "reports/html/best_section.hpp"
#include "reports/html/points_page.hpp"
#include "reports/html/shown_metric.hpp"

namespace tiersim::best_choice_test {
namespace {

// Machines a, b and c for models m and n; two batches of a.
PointTable machines() {
  PointTable table{.columns = {{"model"}, {"batch", "step.batch", true}, {"machine"}},
                   .objectives = {{"throughput_tokens_per_s", true},
                                  {"energy_j_per_token", false},
                                  {"cost_usd_per_mtoken", false}},
                   .summary = BestQuestion{.best = 2, .by = {0}}};
  const auto add = [&](const char* model, const char* batch, const char* machine, double rate,
                       double low, double high) {
    auto record = std::make_shared<RunRecord>();
    record->gpus = 2;
    record->metrics["throughput_tokens_per_s"] = {rate, "tokens/s", NumberClass::assumed,
                                                  Interval<double>{low, high}};
    record->metrics["energy_j_per_token"] = {0.5, "J", NumberClass::assumed,
                                             Interval<double>{0.25, 1}};
    record->metrics["cost_usd_per_mtoken"] = {3, "USD", NumberClass::assumed};
    table.points.push_back({.position = static_cast<std::int64_t>(table.points.size()),
                            .labels = {model, batch, machine},
                            .record = record});
  };
  add("m", "1", "a", 10, 9, 11);
  add("m", "8", "a", 100, 90, 110);
  add("m", "8", "b", 95, 85, 105);
  add("m", "8", "c", 80, 70, 89);
  add("n", "1", "c", 7, 6, 8);
  return table;
}

TEST(BestChoice, TakesTheBestPointOfEachAndCallsOverlapsEqual) {
  const PointTable table = machines();
  const PointsView view = view_of(table);
  const auto cells = best_of(table, view, *table.summary, view.objective_metrics[0], true);
  ASSERT_EQ(cells.size(), 2u);
  const auto& of_m = cells[0].competitors;
  ASSERT_EQ(of_m.size(), 3u);
  EXPECT_EQ(of_m[0].point, 1u);  // a at batch 8, not at 1
  EXPECT_EQ(of_m[1].point, 2u);
  EXPECT_TRUE(of_m[1].equals_best);   // 105 > 90
  EXPECT_FALSE(of_m[2].equals_best);  // 89 < 90
  ASSERT_EQ(cells[1].competitors.size(), 1u);
  EXPECT_EQ(cells[1].competitors[0].point, 4u);
}

TEST(BestChoice, LessIsBetterWhereItIsMinimized) {
  const PointTable table = machines();
  const PointsView view = view_of(table);
  const auto cells = best_of(table, view, *table.summary, view.objective_metrics[0], false);
  EXPECT_EQ(cells[0].competitors[0].point, 0u);
}

TEST(BestChoice, PointsBeyondAConstraintDoNotCompete) {
  PointTable table = machines();
  table.feasible = {true, false, true, true, true};
  const PointsView view = view_of(table);
  const auto cells = best_of(table, view, *table.summary, view.objective_metrics[0], true);
  EXPECT_EQ(cells[0].competitors[0].point, 2u);
}

TEST(ShownMetric, TokensAreOfOneGpuAndOfOneJoule) {
  const PointTable table = machines();
  const PointsView view = view_of(table);
  const auto shown = [&](std::size_t objective) {
    return shown_value(table, view.metrics[view.objective_metrics[objective]], 1);
  };
  EXPECT_EQ(shown(0), "50.0 [45.0, 55.0]");  // 100 on two GPUs
  EXPECT_EQ(shown(1), "2 [1, 4]");           // 0.5 J [0.25, 1]
  EXPECT_EQ(shown(2), "3");
}

TEST(BestSection, ThePageBeginsWithTheBestAndItsEquals) {
  const std::string html = points_page(machines(), {});
  EXPECT_NE(html.find("a, batch 8: 50.0 [45.0, 55.0]. Equal: b."), std::string::npos);
  EXPECT_LT(html.find("Best machine"), html.find(">Summary<"));
}

TEST(BreakEvenText, HasTheIntervalAndNamesItsEnds) {
  BreakEvenRecord answer{.reference = "H200", .low = 0.01, .high = 100, .value = 4};
  answer.ci95 = {2, 8};
  answer.draws = 20;
  EXPECT_EQ(break_even_text(answer), "4 [2, 8]");
  answer.channel_bytes_per_s = 10e9;
  EXPECT_EQ(break_even_text(answer), "40 GB/s [20 GB/s, 80 GB/s], 4 times");
  answer.outcome = BreakEvenOutcome::never;
  answer.value.reset();
  answer.ci95 = {50, 100};
  EXPECT_EQ(break_even_text(answer), "never [500 GB/s, beyond 1 TB/s]");
  answer.ci95 = {100, 100};
  EXPECT_EQ(break_even_text(answer), "never, in all 20 draws");
  answer.outcome = BreakEvenOutcome::only;
  answer.ci95.reset();
  EXPECT_EQ(break_even_text(answer), "H200 does not fit");
}

}  // namespace
}  // namespace tiersim::best_choice_test
