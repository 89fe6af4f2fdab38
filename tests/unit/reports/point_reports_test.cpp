// Reports over points: Pareto fronts, curves and sensitivity of small tables with obvious answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "reports/curves/curves_report.hpp"
#include "reports/pareto/pareto_report.hpp"
#include "reports/points/missing_points.hpp"
#include "reports/render/figure_svg.hpp"
#include "reports/sensitivity/axis_effects.hpp"
#include "reports/sensitivity/tornado.hpp"
#include "sim/base/text.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::point_reports_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

// Methods over contexts: rate in tokens/s and cache in bytes. The last point did not run.
PointTable four_points() {
  PointTable table{.title = "four",
                   .columns = {{.name = "method"}, {.name = "context", .numeric = true}}};
  const auto add = [&](const char* method, const char* context, double rate, double bytes) {
    auto record = std::make_shared<RunRecord>();
    record->metrics["throughput_tokens_per_s"] = {.value = rate,
                                                  .unit = "tokens/s",
                                                  .number_class = NumberClass::specification,
                                                  .ci95 = Interval<double>{rate / 2, rate * 2}};
    record->metrics["kv_footprint_bytes"] = {.value = bytes, .unit = "B"};
    table.points.push_back({.position = static_cast<std::int64_t>(table.points.size()),
                            .labels = {method, context},
                            .run_id = "0123456789abcdef",
                            .rerun = "tiersim run a.yaml",
                            .record = record});
  };
  add("dense", "1024", 400, 4096);
  add("dense", "2048", 200, 8192);
  add("MAPLE", "1024", 500, 2048);
  add("MAPLE", "2048", 600, 16384);
  table.points.push_back({.position = 4, .labels = {"Quest", "1024"}, .problem = "too large"});
  return table;
}

const ReportObjective kRate{.metric = "throughput_tokens_per_s", .maximize = true};
const ReportObjective kBytes{.metric = "kv_footprint_bytes", .maximize = false};

ParetoReport pareto(const PointTable& table) {
  return pareto_of(table, {objective_of(table, kRate), objective_of(table, kBytes)});
}

// 600 at 16384 and 500 at 2048 beat the rest. From worst (200, 16384) to best (600, 2048): the
// second dominates 3/4 of the box alone, the first adds no area, being the worst in bytes.
TEST(ParetoReport, HasTheFrontInOrderAndCountsTheRest) {
  const PointTable table = four_points();
  const ParetoReport report = pareto(table);
  EXPECT_THAT(report.front, ElementsAre(3, 2));
  EXPECT_THAT(report.dominated, ElementsAre(0, 1));
  EXPECT_THAT(report.without, ElementsAre(4));
  EXPECT_THAT(report.unacceptable, IsEmpty());
  EXPECT_EQ(report.knee, 2U);
  EXPECT_DOUBLE_EQ(report.hypervolume, 0.75);
}

TEST(ParetoReport, PointsThatBreakAConstraintAreNotCompared) {
  PointTable table = four_points();
  table.feasible = {true, true, false, true, false};
  const ParetoReport report = pareto(table);
  EXPECT_THAT(report.front, ElementsAre(3, 0));
  EXPECT_THAT(report.unacceptable, ElementsAre(2));
}

TEST(ParetoReport, TablesNameClassIntervalRunAndWhatIsLeftOut) {
  const PointTable table = four_points();
  const std::string text = to_text(table_of(pareto(table), false));
  EXPECT_THAT(text, HasSubstr("throughput_tokens_per_s, max (tokens/s, specification)"));
  EXPECT_THAT(text, HasSubstr("600 [300, 1200]"));
  EXPECT_THAT(text, HasSubstr("2 KiB"));
  EXPECT_THAT(text, HasSubstr("0123456789ab"));
  EXPECT_THAT(text, HasSubstr("2 of 4 points are on the front, 2 are dominated"));
  EXPECT_THAT(text, HasSubstr("not compared: 1 point (1 does not fit)"));
  const Table all = table_of(pareto(table), true);
  const testing::Texts exact = testing::exact(all);
  EXPECT_EQ(exact.size(), 4U);
  EXPECT_EQ(exact[0].back(), "tiersim run a.yaml");
  EXPECT_EQ(exact[0][8], "0123456789abcdef");
  // point, front, method, context, rate and the ends of its interval, cache without any, run, rerun
  const std::vector<std::string> heads = testing::heads(all, TableForm::csv);
  ASSERT_EQ(heads.size(), 10U);
  EXPECT_EQ(heads[5], "throughput_tokens_per_s, ci95 low");
  EXPECT_EQ(exact[0][5], "300");
  EXPECT_EQ(exact[0][6], "1200");
}

TEST(ParetoReport, SaysWhereWorkloadsAreMixedWithChoices) {
  PointTable table = four_points();
  EXPECT_THAT(pareto(table).notes, IsEmpty());  // what no setting stands behind may be a choice
  table.columns[1].key = "step.context";
  EXPECT_THAT(pareto(table).notes,
              ElementsAre("points differ in context, which is what is asked and no choice; see one "
                          "at a time: --where \"context == 1024\""));
  table.feasible = {true, false, true, false, false};
  EXPECT_THAT(pareto(table).notes, IsEmpty());  // those that are compared have one context
}

TEST(MissingPoints, FailuresAreNotWhatDoesNotFit) {
  PointTable table = four_points();
  table.points[4].failed = true;
  table.points.push_back({.position = 5, .labels = {"H2O", "1024"}, .problem = "too large"});
  table.points.push_back({.position = 6, .labels = {"H2O", "2048"}, .problem = "too large"});
  const std::string text = to_text(table_of(pareto(table), false));
  EXPECT_THAT(text, HasSubstr("not compared: 3 points (1 failed, 2 do not fit)"));
  EXPECT_EQ(short_problem("no such key; did you mean this"), "no such key");
  EXPECT_EQ(shortened("caf\xC3\xA9", 4), "caf...");  // not half a letter
}

TEST(ParetoReport, JsonHasPositionsOfEveryPoint) {
  const PointTable table = four_points();
  const Json json = Json::parse(to_json(pareto(table)));
  EXPECT_EQ(json["front"][0]["position"], 3);
  EXPECT_EQ(json["front"][0]["objectives"]["kv_footprint_bytes"]["value"], 16384);
  EXPECT_EQ(json["front"][0]["objectives"]["throughput_tokens_per_s"]["ci95"][0], 300);
  EXPECT_EQ(json["knee"], 2);
  EXPECT_EQ(json["dominated"], Json({0, 1}));
  EXPECT_EQ(json["without_value"], Json({4}));
}

// One step between two points: a corner. Circles and squares: MAPLE is the second group.
TEST(ParetoReport, TheFigureHasAStepLineAndDirectLabels) {
  const PointTable table = four_points();
  EXPECT_EQ(grouping_column(table), 0U);
  const Figure figure = figure_of(pareto(table), 0, 1, 0);
  const auto& groups = figure.panels.at(0).series;
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "dense");
  EXPECT_EQ(groups[1].name, "MAPLE");
  EXPECT_EQ(groups[2].name, "Quest");
  EXPECT_EQ(groups[0].points.size(), 2U);
  ASSERT_EQ(groups[1].points.size(), 2U);
  EXPECT_EQ(groups[1].points[1].label, "MAPLE, 1024");
  EXPECT_EQ(groups[1].points[1].emphasis, Emphasis::knee);
  EXPECT_EQ(groups[1].points[1].order, 3U);
  const std::string svg = to_svg(figure);
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_THAT(svg, HasSubstr(">MAPLE, 2048</text>"));
  EXPECT_THAT(svg, HasSubstr("kv footprint (KiB), less is better"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

Figure front_of(std::vector<FigurePoint> points, const FigureFront& front = {}) {
  for (FigurePoint& point : points)
    if (point.emphasis == Emphasis::none) point.emphasis = Emphasis::front;
  return {.title = "t",
          .panels = {{.x = {.label = "x"},
                      .y = {.label = "y"},
                      .series = {{.mark = SeriesMark::points, .points = std::move(points)}},
                      .front = front}}};
}

TEST(FrontFigure, LongLabelsAreThoseOfTheKneeAndTheEnds) {
  std::vector<FigurePoint> points;
  for (const double x : {0, 1, 2, 3, 4})
    points.push_back({.x = x, .y = 4 - x, .label = "a" + std::to_string(static_cast<int>(x))});
  points[2].emphasis = Emphasis::knee;
  EXPECT_EQ(count(to_svg(front_of(points)), "paint-order"), 5U);
  for (FigurePoint& point : points) point.label += ", as long as names of methods are";
  const std::string svg = to_svg(front_of(points));
  EXPECT_EQ(count(svg, "paint-order"), 3U);
  EXPECT_THAT(svg, HasSubstr(">a2, as long"));
  EXPECT_EQ(svg.find(">a1,"), std::string::npos);
}

TEST(FrontFigure, TheStepLineTurnsAtTheWorseOfTwoPoints) {
  const Figure figure = front_of({{.x = 0, .y = 0}, {.x = 1, .y = 1}},
                                 {.x_better = Sense::minimize, .y_better = Sense::maximize});
  // Less x and more y are better: from (0, 0) right to (1, 0), then up.
  const std::string svg = to_svg(figure);
  const std::size_t at = svg.find("<polyline points=\"") + 18;
  std::vector<double> numbers;
  std::string points = svg.substr(at, svg.find('"', at) - at);
  for (char& c : points)
    if (c == ',') c = ' ';
  std::istringstream in(points);
  for (double v = 0; in >> v;) numbers.push_back(v);
  ASSERT_EQ(numbers.size(), 6U);
  EXPECT_EQ(numbers[2], numbers[4]);  // below the second point
  EXPECT_EQ(numbers[3], numbers[1]);  // as high as the first
}

TEST(CurvesReport, LinesAreTheOtherColumnsThatVary) {
  const PointTable table = four_points();
  const auto report = curves_of(table, {.metric = kRate.metric});
  ASSERT_TRUE(report) << report.error();
  ASSERT_EQ(report->lines.size(), 3U);
  EXPECT_EQ(report->lines[1].name, "MAPLE");
  EXPECT_EQ(report->lines[1].samples[1].x, 2048);
  EXPECT_EQ(report->without, 1U);
  const auto tables = tables_of(*report);
  const testing::Texts pivot =
      testing::shown(testing::tables_for(tables, TableForm::people).front());
  EXPECT_EQ(pivot[0][0], "1024");
  EXPECT_EQ(pivot[0][2], "500 [250, 1000]");
  EXPECT_EQ(pivot[1][3], "-");
  EXPECT_EQ(testing::tables_for(tables, TableForm::csv).front().rows.size(), 5U);
}

TEST(CurvesReport, WhiskersAreDrawnWithinTheAxis) {
  const PointTable table = four_points();
  const Figure figure = figure_of(*curves_of(table, {.metric = kRate.metric}));
  EXPECT_EQ(figure.panels[0].series[1].points[1].low, 300);
  EXPECT_EQ(figure.panels[0].series[1].points[1].high, 1200);
  Figure bare = figure;
  for (FigureSeries& series : bare.panels[0].series)
    for (FigurePoint& point : series.points) point.low = point.high = kNoValue;
  // A bar and two caps each.
  EXPECT_EQ(
      count(to_svg(figure), "stroke-width=\"1\"/>") - count(to_svg(bare), "stroke-width=\"1\"/>"),
      4U * 3);  // as many grid lines: 0 to 1500 by 500, and 0 to 600 by 200
}

// The limit of 2000 lies above all points and their intervals (1200), and the axis holds it.
TEST(CurvesReport, ALimitIsADashedLineWithItsName) {
  const PointTable table = four_points();
  CurvesReport report = *curves_of(table, {.metric = kRate.metric});
  report.limits = {{.value = 2000, .name = "SLO", .source = "--slo"}};
  const Figure figure = figure_of(report);
  ASSERT_EQ(figure.panels[0].limits.size(), 1U);
  EXPECT_EQ(figure.panels[0].limits[0].y, 2000);
  EXPECT_EQ(figure.panels[0].limits[0].label, "SLO 2000");
  const std::string svg = to_svg(figure);
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"6 4\""));
  EXPECT_THAT(svg, HasSubstr(">SLO 2000</text>"));
  EXPECT_THAT(svg, HasSubstr(">2000</text>"));
  EXPECT_THAT(tables_of(report)[0].notes[1], HasSubstr("SLO 2000 (--slo)"));
  EXPECT_EQ(Json::parse(to_json(report))["limits"][0]["value"], 2000);
  EXPECT_EQ(Json::parse(to_json(*curves_of(table, {.metric = kRate.metric})))["limits"].size(), 0U);
}

// Rates from 1 to 9 are less than a decade; 1 to 16 is wide.
TEST(CurvesReport, AnAxisOfLessThanADecadeIsLinear) {
  const auto base_of = [](const char* last) {
    PointTable table{.columns = {{.name = "rate", .numeric = true}}};
    for (const char* label : {"1", "5", last}) {
      auto record = std::make_shared<RunRecord>();
      record->metrics["throughput_tokens_per_s"] = {.value = 100, .unit = "tokens/s"};
      table.points.push_back({.labels = {label}, .record = record});
    }
    return figure_of(*curves_of(table, {.metric = kRate.metric})).panels[0].x.log_base;
  };
  EXPECT_EQ(base_of("9"), 0);
  EXPECT_EQ(base_of("16"), 2);
}

TEST(CurvesReport, SaysWhatIsAmbiguous) {
  const PointTable table = four_points();
  const auto by_panel = curves_of(table, {.metric = kRate.metric, .panel = 0});
  ASSERT_TRUE(by_panel);
  EXPECT_EQ(by_panel->lines[1].panel, "MAPLE");
  const auto over_method = curves_of(table, {.metric = kRate.metric, .x = 0});
  ASSERT_FALSE(over_method);
  EXPECT_EQ(over_method.error(), "'method' is no numeric column (there are: context)");
  PointTable twice = four_points();
  twice.points[1].labels[1] = "1024";
  const auto same = curves_of(twice, {.metric = kRate.metric});
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error(), HasSubstr("points 0 and 1 have the same labels"));
}

TEST(PointValues, LabelsAreNumbersInBaseUnits) {
  EXPECT_EQ(number_of_label("48 GB/s")->value, 48e9);
  EXPECT_EQ(number_of_label("48 GB/s")->unit, "B/s");
  EXPECT_EQ(number_of_label("1 KiB")->value, 1024);
  EXPECT_DOUBLE_EQ(number_of_label("200 ms")->value, 0.2);
  EXPECT_EQ(number_of_label("0.25")->value, 0.25);
  EXPECT_FALSE(number_of_label("MAPLE"));
  EXPECT_EQ(shown_unit("s", 0.02).name, "ms");
  EXPECT_EQ(shown_unit("B", 3 * 1024.0 * 1024).name, "MiB");
  EXPECT_EQ(axis_label("ttft_s.p99", {1000, "ms"}), "ttft.p99 (ms)");
}

Tornado three_parameters() {
  Tornado tornado{.name = "case", .metric = "tpot_s", .unit = "s", .base = 0.01};
  const auto add = [&](const char* name, double low, double high, NumberClass number_class) {
    tornado.rows.push_back({.parameter = name,
                            .value = "1",
                            .number_class = number_class,
                            .low = {.value = "0.8", .metric = low},
                            .high = {.value = "1.2", .metric = high}});
  };
  add("little", 0.0099, 0.01, NumberClass::assumed);
  add("nothing", 0.01, 0.01, NumberClass::assumed);
  add("much", 0.012, 0.009, NumberClass::specification);
  tornado.rows.back().granule = true;
  tornado.rows.push_back({.parameter = "broken",
                          .value = "1",
                          .low = {.value = "0.8", .problem = "below its limit"},
                          .high = {.value = "1.2", .problem = "above its limit"}});
  arrange(tornado);
  return tornado;
}

TEST(Tornado, TheWidestIsFirstAndWhatMovesNothingIsCounted) {
  const Tornado tornado = three_parameters();
  ASSERT_EQ(tornado.rows.size(), 3U);
  EXPECT_EQ(tornado.rows[0].parameter, "much");
  EXPECT_EQ(tornado.rows[2].parameter, "broken");
  EXPECT_EQ(tornado.no_effect, 1U);
  EXPECT_DOUBLE_EQ(span_of(tornado.rows[0], tornado.base), 0.003);
  // From the base, where both ends lie on one side.
  EXPECT_DOUBLE_EQ(span_of({.low = {.metric = 3}, .high = {.metric = 2}}, 1), 2);
}

TEST(Tornado, TablesSayWhatIsAssumedAndWhatCannotRun) {
  const Tornado tornado = three_parameters();
  const std::string text = to_text(table_of(tornado));
  EXPECT_THAT(text, HasSubstr("12 ms (+20.00 %)"));
  EXPECT_THAT(text, HasSubstr("30.00 %"));
  EXPECT_THAT(text, HasSubstr("cannot run with either value (csv and json say why): broken"));
  EXPECT_THAT(text, HasSubstr("1 of these 2 are assumed"));
  EXPECT_THAT(text, HasSubstr("a granule of hardware is a power of two: much"));
  EXPECT_EQ(Json::parse(to_json(tornado))["parameters"][2]["low"]["problem"], "below its limit");
  const std::string svg = to_svg(tornado);
  EXPECT_THAT(svg, HasSubstr("little (assumed)"));
  EXPECT_EQ(svg.find("broken"), std::string::npos);
}

// Context alone: 200 of dense, 100 of MAPLE. Method alone: 100 at 1024, 400 at 2048.
TEST(AxisEffects, AreTheRangesOverOneAxisWithTheOthersHeld) {
  const AxisEffects effects = effects_of(four_points(), kRate.metric);
  ASSERT_EQ(effects.axes.size(), 2U);
  EXPECT_EQ(effects.axes[0].axis, "method");
  EXPECT_DOUBLE_EQ(effects.axes[0].mean, 250);
  EXPECT_DOUBLE_EQ(effects.axes[0].most, 400);
  EXPECT_DOUBLE_EQ(effects.axes[0].most_ratio, 3);
  EXPECT_THAT(effects.axes[0].where, ElementsAre("context=2048"));
  EXPECT_DOUBLE_EQ(effects.axes[1].mean, 150);
  EXPECT_NEAR(effects.axes[1].mean_ratio, std::sqrt(2 * 1.2), 1e-12);
  EXPECT_EQ(effects.without.count(), 1U);
}

}  // namespace
}  // namespace tiersim::point_reports_test
