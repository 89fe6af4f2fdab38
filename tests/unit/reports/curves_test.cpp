// Curves: each check fails when it should, printed ratios are explained by one set of conditions or
// by none, and a point that cannot run never gives a number.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/reports/comparison_results.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::curves_test {
namespace {

using testing::curve_point;
using testing::curves;
using testing::exact;
using testing::no_point;
using testing::result_of;
using testing::section_table;
using testing::shown;

TargetResult checked(CurvesResult r, CurveCheck check) {
  check.id = "p.check";
  check.says = "what it says";
  check.why = "why";
  r.curves.checks = {std::move(check)};
  return result_of(section_of(r), "p.check");
}

TEST(Curves, PointsAreInTheirOrder) {
  const CurvesResult r = curves();
  EXPECT_EQ(&r.at(0, 0, 0, 0), &r.points.front());
  EXPECT_EQ(&r.at(0, 0, 1, 2), &r.points[5]);
  EXPECT_EQ(&r.at(0, 1, 1, 0), &r.points[8]);
  EXPECT_EQ(&r.at(1, 0, 0, 1), &r.points[11]);
  EXPECT_EQ(&r.at(1, 1, 1, 1), &r.points.back());
  EXPECT_EQ(r.ratio(1, 1, 0, 1), 0.5);
  EXPECT_EQ(r.ratio(0, 0, 0, 2, 1), 1.5);
}

TEST(CurveChecks, HoldUpToTheirBoundAndFailBeyond) {
  const CurveCheck both{
      .way = "y", .machine = "A", .from = 8, .to = 16, .at_least = 2.0, .at_most = 2.0};
  const TargetResult found = checked(curves(), both);
  EXPECT_EQ(found.status, "shape") << found.why;
  EXPECT_EQ(found.reading, "first_principles");
  EXPECT_EQ(found.why, "what it says; found 2.000 to 2.000 at 4 points; why");
  CurveCheck higher = both;
  higher.at_least = 2.001;
  higher.at_most = 3;
  EXPECT_EQ(checked(curves(), higher).status, "fail");
  CurveCheck lower = both;
  lower.at_least = 1;
  lower.at_most = 1.999;
  EXPECT_EQ(checked(curves(), lower).status, "fail");
}

TEST(CurveChecks, ShowWhatIsNearestToTheirBound) {
  const CurveCheck least{.way = "y", .from = 8, .to = 16, .at_least = 0.5};
  EXPECT_EQ(checked(curves(), least).simulated, 0.5);
  EXPECT_EQ(checked(curves(), least).paper, 0.5);
  const CurveCheck most{.way = "y", .from = 8, .to = 16, .at_most = 2.0};
  EXPECT_EQ(checked(curves(), most).simulated, 2);
  EXPECT_EQ(checked(curves(), most).paper, 2);
  CurveCheck between = most;
  between.at_most = 1;  // B is below, A above
  EXPECT_EQ(checked(curves(), between).status, "fail");
}

// One point of machine B, case large, context 16 is slower than all others.
TEST(CurveChecks, LookAtTheirMachineCaseAndContextsOnly) {
  CurvesResult r = curves();
  r.points.back() = curve_point(0.5);
  const CurveCheck all{.way = "y", .from = 8, .to = 16, .at_least = 0.5};
  EXPECT_EQ(checked(r, all).status, "fail");
  EXPECT_NEAR(checked(r, all).simulated, 0.1, 1e-15);
  for (const auto& narrow : {CurveCheck{.way = "y", .machine = "A", .from = 8, .to = 16},
                             CurveCheck{.way = "y", .of_case = "small", .from = 8, .to = 16},
                             CurveCheck{.way = "y", .from = 8, .to = 15}}) {
    CurveCheck check = narrow;
    check.at_least = 0.5;
    EXPECT_EQ(checked(r, check).status, "shape");
  }
  for (const auto& narrow : {CurveCheck{.way = "y", .machine = "B", .from = 8, .to = 16},
                             CurveCheck{.way = "y", .of_case = "large", .from = 8, .to = 16},
                             CurveCheck{.way = "y", .from = 9, .to = 16}}) {
    CurveCheck check = narrow;
    check.at_least = 0.5;
    EXPECT_EQ(checked(r, check).status, "fail");
  }
}

TEST(CurveChecks, CompareWithAnotherWayWhereTheySaySo) {
  const CurveCheck check{.way = "z",
                         .of_case = "small",
                         .machine = "A",
                         .other_way = "y",
                         .from = 8,
                         .to = 16,
                         .at_least = 1.5,
                         .at_most = 1.5};
  EXPECT_EQ(checked(curves(), check).status, "shape") << checked(curves(), check).why;
  CurveCheck first = check;
  first.other_way.clear();
  EXPECT_EQ(checked(curves(), first).status, "fail");
}

TEST(CurveChecks, CountWhatCannotRunAndFailOfNothing) {
  CurvesResult r = curves();
  r.points[1] = no_point();
  const CurveCheck check{.way = "y", .machine = "A", .from = 8, .to = 16, .at_least = 2.0};
  EXPECT_EQ(checked(r, check).status, "shape");
  EXPECT_EQ(checked(r, check).why,
            "what it says; found 2.000 to 2.000 at 3 points, 1 cannot run; why");
  for (CurvePoint& point : r.points) point = no_point();
  EXPECT_EQ(checked(r, check).status, "fail");
  EXPECT_EQ(checked(r, check).why,
            "what it says; found 0.000 to 0.000 at 0 points, 4 cannot run; why");
  CurveCheck most = check;
  most.at_least.reset();
  most.at_most = 2;
  EXPECT_EQ(checked(r, most).status, "fail");
}

CurvesResult with_printed(CurvesResult r, double paper, double near) {
  r.curves.printed = {{.id = "p.printed",
                       .says = "it is so",
                       .ways = {"y"},
                       .at = 16,
                       .paper = paper,
                       .near = near}};
  return r;
}

TEST(CurvesPrinted, AreExplainedByOneMachineAndWayForAllCases) {
  const ReportSection section = section_of(with_printed(curves(), 2.1, 0.05));
  for (const char* id : {"p.printed.small", "p.printed.large"}) {
    const TargetResult result = result_of(section, id);
    EXPECT_EQ(result.status, "explained");
    EXPECT_EQ(result.simulated, 2);
    EXPECT_EQ(result.paper, 2.1);
    EXPECT_NEAR(result.tolerance, 0.105, 1e-12);
    EXPECT_EQ(result.why,
              "it is so; 1 of 2 machines and ways are near in all cases, nearest: A, y");
  }
  const Table table = section_table(section, "fig_printed");
  EXPECT_EQ(shown(table)[0], (std::vector<std::string>{"A", "2.00* / 2.00*"}));
  EXPECT_EQ(shown(table)[1], (std::vector<std::string>{"B", "0.50  / 0.50 "}));
}

TEST(CurvesPrinted, ShowTheNearestConditions) {
  const ReportSection section = section_of(with_printed(curves(), 0.6, 0.05));
  EXPECT_EQ(result_of(section, "p.printed.small").simulated, 0.5);
  EXPECT_EQ(result_of(section, "p.printed.small").why,
            "it is so; 0 of 2 machines and ways are near in all cases, nearest: B, y");
}

TEST(CurvesPrinted, AreUnexplainedWhereEachCaseIsNearOnAnotherMachine) {
  CurvesResult r = with_printed(curves(), 2, 0.05);
  r.points[9] = curve_point(5);    // A, large: 1
  r.points[19] = curve_point(10);  // B, large: 2
  const ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "p.printed.small").status, "unexplained");
  EXPECT_EQ(result_of(section, "p.printed.large").status, "unexplained");
  const Table table = section_table(section, "fig_printed");
  EXPECT_EQ(shown(table)[0][1], "2.00* / 1.00 ");
  EXPECT_EQ(shown(table)[1][1], "0.50  / 2.00*");
}

TEST(CurvesPrinted, AreNotNearWhereNothingRuns) {
  CurvesResult r = with_printed(curves(), 2, 0.99);
  for (CurvePoint& point : r.points) point = no_point();
  const ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "p.printed.small").status, "unexplained");
  EXPECT_EQ(shown(section_table(section, "fig_printed"))[0][1], "-  / - ");
}

TEST(CurvesTable, ShowsRatiosTheirLimitsAndWhatCannotRun) {
  CurvesResult r = curves();
  r.points[0] = no_point();
  r.points[3] = curve_point(50, "compute");
  r.points[4] = curve_point(125, "collective");
  const Table table = section_table(section_of(r), "fig_small");
  EXPECT_EQ(shown(table)[0], (std::vector<std::string>{"A", "x", "-", "50.00 F"}));
  EXPECT_EQ(shown(table)[1], (std::vector<std::string>{"A", "y", "-", "2.50 A"}));
  EXPECT_EQ(shown(table)[4], (std::vector<std::string>{"B", "y", "0.50 H", "0.50 H"}));
}

TEST(CurvesTable, HasTimesInMilliseconds) {
  CurvesResult r = curves();
  r.curves.metric = "ttft_s";
  const Table table = section_table(section_of(r), "fig_small");
  EXPECT_NE(table.title.find("ttft_s in ms of x"), std::string::npos) << table.title;
  EXPECT_EQ(shown(table)[0][2], "100 H");
  EXPECT_EQ(shown(table)[1][2], "2.00 H");
}

TEST(CurvesTable, BreaksThePrintedPointDownByPhase) {
  const Table table = section_table(section_of(with_printed(curves(), 2, 0.05)), "fig_breakdown_2");
  EXPECT_EQ(table.columns.size(), 5);  // case, way, attention, mlp, all
  EXPECT_EQ(table.rows.size(), 5);
  EXPECT_EQ(shown(table)[0][2], "750.000");
  EXPECT_EQ(shown(table)[0][3], "250.000");
}

TEST(CurvesJson, NamesTheProblemInsteadOfNumbers) {
  CurvesResult r = curves();
  r.points[0] = no_point();
  const auto json = nlohmann::json::parse(section_of(r).json);
  ASSERT_EQ(json["points"].size(), 20);
  EXPECT_EQ(json["points"][0]["problem"], "not even one sequence fits at this context");
  EXPECT_EQ(json["points"][0]["limit"], "capacity");
  EXPECT_FALSE(json["points"][0].contains("throughput_tokens_per_s"));
  EXPECT_FALSE(json["points"][1].contains("ratio"));  // of nothing
  EXPECT_EQ(json["points"][4]["ratio"], 2);
  EXPECT_EQ(json["points"][4]["phases_s"]["mlp"], 0.25);
  const Table raw = section_table(section_of(r), "fig");
  EXPECT_EQ(raw.rows.size(), 20);
  EXPECT_EQ(exact(raw)[0][4], "not even one sequence fits at this context");
  EXPECT_EQ(exact(raw)[1][8], "");
}

}  // namespace
}  // namespace tiersim::curves_test
