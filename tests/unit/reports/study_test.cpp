#include "reports/papers/studies/study.hpp"

#include <gtest/gtest.h>

#include "reports/papers/reproduce/targets.hpp"
#include "sim/config/describe.hpp"
#include "tests/unit/reports/study_records.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::study_test {
namespace {

TEST(Study, PointsAreTheProductOfTheAxesTheLastFastest) {
  Study study;
  study.scenario = "a.yaml";
  study.set = {"step.batch=2"};
  study.axes = {{.name = "method", .variants = "methods"},
                {.name = "context", .key = "step.context", .values = {"1", "2"}}};
  const VariantLists lists{
      {"methods", {{.label = "A"}, {.label = "B", .scenario = "b.yaml", .set = {"x=1"}}}}};
  const auto points = points_of(study, lists);
  ASSERT_EQ(points.size(), 4);
  EXPECT_EQ(points[0].scenario, "a.yaml");
  EXPECT_EQ(points[0].labels, (std::vector<std::string>{"A", "1"}));
  EXPECT_EQ(points[3].scenario, "b.yaml");
  EXPECT_EQ(points[3].labels, (std::vector<std::string>{"B", "2"}));
  EXPECT_EQ(points[3].set, (std::vector<std::string>{"step.batch=2", "x=1", "step.context=2"}));
}

std::string mistakes_in(const std::string& study) {
  Diagnostics diagnostics;
  const Document document =
      load_text("paper: p\nrows: []\nstudies:\n  - " + study, "t.yaml", {}, diagnostics);
  read<Targets>(document, "targets", diagnostics);
  return diagnostics.text();
}

TEST(Study, MistakesSayWhatIsMissing) {
  const std::string good = "{id: a, title: t, scenario: s, columns: [step_time_s], axes: [";
  EXPECT_EQ(mistakes_in(good + "{name: x, key: k, values: [a]}]}"), "");
  EXPECT_NE(mistakes_in(good + "]}").find("axes: is empty"), std::string::npos);
  EXPECT_NE(mistakes_in(good + "{name: x}]}").find("neither or both"), std::string::npos);
  EXPECT_NE(mistakes_in(good + "{name: x, key: k, values: [a]}], pivot: [step_time_s]}")
                .find("needs two axes"),
            std::string::npos);
  EXPECT_NE(mistakes_in(good + "{name: x, variants: none}]}").find("names no list"),
            std::string::npos);
  EXPECT_NE(mistakes_in(good + "{name: x, key: k, values: [a]}], checks: [{id: c, says: s, test: "
                               "linear, sum: [step_time_s], tolerance: 0.1}]}")
                .find("missing beside a tolerance"),
            std::string::npos);
}

TEST(StudyTable, ShowsEveryPointWithUnits) {
  StudyResult result = testing::linear_study();
  result.rows[2] = testing::row_without({"4"}, "tier 'hbm' is too small: nothing fits");
  const Table table = tables_of(result, Shown::all).at(0);
  EXPECT_EQ(testing::shown(table)[0],
            (std::vector<std::string>{"1", "2 s", "1 s", "1 s", "0", "0", "0", "0", "hbm.bus"}));
  EXPECT_EQ(testing::shown(table)[2][1], "no fit");
  EXPECT_EQ(table.notes.back(), "4: tier 'hbm' is too small: nothing fits");
  EXPECT_EQ(table.notes.front(), "class of the numbers: assumed");
}

TEST(StudyTable, ShowsCollectivesWhereAPointHasThem) {
  StudyResult result = testing::linear_study();
  const std::size_t without = result.columns().size();
  RunRecord record = testing::step_record(1, 1);
  record.time_split[6].seconds = 0.5;
  result.rows[1] = testing::row({"2"}, record);
  EXPECT_EQ(result.columns().size(), without + 1);
}

TEST(StudyTable, RawValuesAreNotRounded) {
  StudyResult result = testing::linear_study();
  result.rows = {testing::row({"1"}, testing::step_record(0.1, 0.2)),
                 testing::row_without({"2"}, "no")};
  const testing::Texts table = testing::exact(table_of(result));
  EXPECT_EQ(table[0][1], "0.30000000000000004");
  EXPECT_EQ(table[1][1], "");
  EXPECT_EQ(table[1].back(), "no");
}

TEST(StudyTable, APivotHasTheFirstAxisDownAndTheLastAcross) {
  StudyResult result;
  result.study.title = "Sweep";
  result.study.axes = {{.name = "method", .variants = "m"},
                       {.name = "batch", .key = "b", .values = {"1", "2"}}};
  result.study.columns = {"throughput_tokens_per_s", "max_batch"};
  result.study.pivot = {"throughput_tokens_per_s"};
  result.rows = {testing::row({"A", "1"}, testing::step_record(0.25, 0.25)),
                 testing::row({"A", "2"}, testing::step_record(0.5, 0.5)),
                 testing::row({"B", "1"}, testing::step_record(1, 1)),
                 testing::row_without({"B", "2"}, "does not fit")};
  const auto tables = tables_of(result, Shown::summary);
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(tables[0].columns[2].title, "2");
  EXPECT_EQ(testing::shown(tables[0])[0], (std::vector<std::string>{"A", "2", "1"}));
  EXPECT_EQ(testing::shown(tables[0])[1], (std::vector<std::string>{"B", "0.5", "no fit"}));
  EXPECT_EQ(tables_of(result, Shown::all)[0].rows.size(), 4);
}

TEST(StudyBars, AreOfOneLengthAndInProportion) {
  StudyResult result = testing::linear_study();
  result.study.bars = true;
  const std::string text = bars_of(result);
  // Half of 60 characters, a third, a fifth.
  EXPECT_NE(text.find("1 |" + std::string(30, 'W') + std::string(30, 'K') + "| 2 s\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2 |" + std::string(20, 'W') + std::string(40, 'K') + "| 3 s\n"),
            std::string::npos);
  EXPECT_NE(text.find("4 |" + std::string(12, 'W') + std::string(48, 'K') + "| 5 s\n"),
            std::string::npos);
  result.study.bars = false;
  EXPECT_EQ(bars_of(result), "");
}

}  // namespace
}  // namespace tiersim::study_test
