// The value of one more unit of an axis, of small tables whose differences are worked out by hand.
#include "reports/marginal/marginal_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "reports/render/figure_svg.hpp"

namespace tiersim::marginal_report_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kCost = "cost_usd_per_mtoken";

void add(PointTable& table, std::vector<std::string> labels, double cost, double half = 0) {
  auto record = std::make_shared<RunRecord>();
  Metric& metric = record->metrics[kCost];
  metric = {.value = cost, .unit = "USD", .number_class = NumberClass::assumed};
  if (half > 0) metric.ci95 = Interval<double>{cost - half, cost + half};
  table.points.push_back({.position = static_cast<std::int64_t>(table.points.size()),
                          .labels = std::move(labels),
                          .record = record});
}

/// Costs of three capacities under two policies and two seeds.
PointTable tiers() {
  PointTable table{.title = "tiers",
                   .columns = {{.name = "tier", .numeric = true},
                               {.name = "policy"},
                               {.name = "seed", .numeric = true}}};
  add(table, {"100 GB", "lru", "1"}, 10);
  add(table, {"200 GB", "lru", "1"}, 8);
  add(table, {"400 GB", "lru", "1"}, 9);
  add(table, {"100 GB", "lru", "2"}, 12);
  add(table, {"200 GB", "lru", "2"}, 9);
  add(table, {"400 GB", "lru", "2"}, 10);
  add(table, {"100 GB", "arc", "1"}, 10);
  add(table, {"200 GB", "arc", "1"}, 10);
  add(table, {"100 GB", "arc", "2"}, 12);
  add(table, {"200 GB", "arc", "2"}, 12);
  return table;
}

MarginalQuestion over_seeds() {
  return {.metrics = {kCost}, .x = 0, .by = {}, .over = 2};
}

TEST(MarginalReport, IsTheMeanDifferenceOfRepeatsOverTheDistance) {
  const PointTable table = tiers();
  const auto report = marginal_of(table, over_seeds());
  ASSERT_TRUE(report) << report.error();
  ASSERT_EQ(report->lines.size(), 2U);
  const MarginalLine& lru = report->lines[0];
  EXPECT_EQ(lru.name, "lru");
  ASSERT_EQ(lru.steps.size(), 2U);
  const MarginalStep& first = lru.steps[0];
  EXPECT_EQ(first.from, "100 GB");
  EXPECT_EQ(first.to, "200 GB");
  EXPECT_DOUBLE_EQ(first.before, 11);
  EXPECT_DOUBLE_EQ(first.after, 8.5);
  EXPECT_NEAR(first.per_unit, -2.5 / 100e9, 1e-20);  // of -2 and -3 over 100 GB
  ASSERT_TRUE(first.ci95);
  // Two differences that are half a unit from their mean: 12.706 x 0.5.
  EXPECT_NEAR(first.ci95->high - first.per_unit, 12.7062 * 0.5 / 100e9, 1e-16);
  EXPECT_TRUE(first.undecided());
  EXPECT_EQ(first.repeats, 2U);
}

// Both seeds say the same, whatever their levels: common random numbers cancel out.
TEST(MarginalReport, RepeatsThatAgreeLeaveNoDoubt) {
  const PointTable table = tiers();
  const auto report = marginal_of(table, over_seeds());
  ASSERT_TRUE(report) << report.error();
  const MarginalStep& second = report->lines[0].steps[1];
  EXPECT_NEAR(second.per_unit, 1 / 200e9, 1e-20);
  EXPECT_DOUBLE_EQ(second.ci95->low, second.ci95->high);
  EXPECT_FALSE(second.undecided());
  const MarginalStep& none = report->lines[1].steps[0];  // that it changes nothing is certain
  EXPECT_EQ(none.per_unit, 0);
  EXPECT_FALSE(none.undecided());
  EXPECT_TRUE(report->paired);
}

TEST(MarginalReport, WithoutRepeatsTheIntervalsOfBothEndsCount) {
  PointTable table{.columns = {{.name = "link", .numeric = true}}};
  add(table, {"10 GB/s"}, 10, 3);
  add(table, {"20 GB/s"}, 30, 4);
  const auto report = marginal_of(table, {.metrics = {kCost}});
  ASSERT_TRUE(report) << report.error();
  const MarginalStep& step = report->lines[0].steps[0];
  EXPECT_NEAR(step.per_unit, 2e-9, 1e-20);
  EXPECT_NEAR(step.ci95->high - step.ci95->low, 2 * 5 / 10e9, 1e-18);
  EXPECT_FALSE(report->paired);
  const Json json = Json::parse(to_json(*report));
  EXPECT_EQ(json["per"], "GB/s");
  EXPECT_EQ(json["lines"][0]["change_unit"], "USD per GB/s");
  EXPECT_NEAR(json["lines"][0]["steps"][0]["per_unit"].get<double>(), 2, 1e-9);
}

TEST(MarginalReport, APointWithoutAResultIsLeftOutAndCounted) {
  PointTable table = tiers();
  table.points[1].record = nullptr;  // 200 GB, lru, seed 1
  table.points[1].problem = "too large";
  MarginalQuestion twice = over_seeds();
  twice.metrics.emplace_back(kCost);  // a point is counted once, whatever it lacks
  const auto report = marginal_of(table, twice);
  ASSERT_TRUE(report) << report.error();
  ASSERT_EQ(report->lines[0].steps.size(), 2U);
  EXPECT_EQ(report->lines[0].steps[0].repeats, 1U);
  EXPECT_NEAR(report->lines[0].steps[0].per_unit, -3 / 100e9, 1e-20);  // of seed 2 alone
  EXPECT_FALSE(report->lines[0].steps[0].ci95);
  EXPECT_THAT(tables_of(*report).back().notes, ::testing::Contains(HasSubstr("1 point")));
}

TEST(MarginalReport, RepeatsThatNobodyNamedAreAMistake) {
  const PointTable table = tiers();
  const auto report = marginal_of(table, {.metrics = {kCost}, .x = 0, .by = {1}});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error(), HasSubstr("seed"));
}

TEST(MarginalReport, OneValueHasNoNext) {
  PointTable table{.columns = {{.name = "tier", .numeric = true}}};
  add(table, {"100 GB"}, 10);
  const auto report = marginal_of(table, {.metrics = {kCost}, .x = 0});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error(), HasSubstr("tier"));
}

TEST(MarginalReport, TablesAndFigureSayWhatAUnitIs) {
  const PointTable table = tiers();
  const auto report = marginal_of(table, over_seeds());
  ASSERT_TRUE(report) << report.error();
  const std::vector<Table> tables = tables_of(*report);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].title, "cost_usd_per_mtoken: change with one more GB of tier");
  ASSERT_EQ(tables[0].rows.size(), 3U);
  EXPECT_EQ(tables[0].rows[0][5].shown(), "-0.025");
  EXPECT_THAT(tables[0].rows[0][6].shown(), HasSubstr("undecided"));
  EXPECT_EQ(tables[0].rows[1][5].shown(), "+0.005");
  EXPECT_THAT(to_svg(figure_of(*report)), HasSubstr("USD per GB"));
}

}  // namespace
}  // namespace tiersim::marginal_report_test
