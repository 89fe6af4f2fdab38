#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/papers/maps/win_map_result.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "sim/config/describe.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::win_map_test {
namespace {

// Three ways, one panel, two contexts, two batches.
WinMap small_map() {
  WinMap map;
  map.id = "paper.where";
  map.title = "Who wins";
  map.ways = {{.label = "alpha", .letter = "A", .scenario = "a.yaml"},
              {.label = "beta", .letter = "B", .scenario = "b.yaml"},
              {.label = "gamma", .letter = "G", .scenario = "g.yaml", .remark = "to be trained"}};
  map.contexts = {1024, 2048};
  map.batches = {1, 2};
  map.column_title = "link";
  map.columns = {{.label = "fast"}};
  map.row_title = "ridge";
  map.rows = {{.label = "high"}};
  return map;
}

TEST(WinMap, TheHighestRateWinsByItsRatioToTheNext) {
  const auto win = win_of(small_map(), {100.0, 150.0, 120.0});
  ASSERT_TRUE(win);
  EXPECT_EQ(win->way, 1);
  EXPECT_EQ(win->next, 2);
  EXPECT_DOUBLE_EQ(win->margin, 0.25);
  EXPECT_FALSE(win->tie);
}

// 1 %: 100.5 over 100 ties, 102 over 100 does not.
TEST(WinMap, CloserThanTheMapsLimitIsATie) {
  EXPECT_TRUE(win_of(small_map(), {100.0, 100.5, {}})->tie);
  EXPECT_FALSE(win_of(small_map(), {100.0, 102.0, {}})->tie);
  const auto equal = win_of(small_map(), {100.0, 100.0, {}});
  EXPECT_EQ(equal->way, 0);
  EXPECT_TRUE(equal->tie);
}

TEST(WinMap, WhoDoesNotFitOrIsLeftOutTakesNoPart) {
  EXPECT_FALSE(win_of(small_map(), {{}, {}, {}}));
  EXPECT_FALSE(win_of(small_map(), {{}, {}, 1.0}, 2));
  const auto alone = win_of(small_map(), {{}, 1.0, 2.0}, 2);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->way, 1);
  EXPECT_FALSE(alone->next);
  EXPECT_FALSE(alone->tie);
}

// alpha wins at (1K, 1), ties beta at (2K, 1); gamma wins at (1K, 2); nothing fits at (2K, 2).
WinMapResult small_result() {
  WinMap map = small_map();
  map.without = "gamma";
  WinMapResult result(map);
  auto& panel = result.rates[0][0];
  panel[0][0] = {120.0, 100.0, 90.0};
  panel[0][1] = {100.0, 100.5, 90.0};
  panel[1][0] = {100.0, {}, 300.0};
  return result;
}

testing::Texts rows_of(const ReportSection& section, const std::string& id) {
  return testing::shown(testing::section_table(section, id));
}

using Texts = std::vector<std::string>;

TEST(WinMapSection, CountsWinsTiesAndWhatFitsNowhere) {
  const ReportSection section = section_of(small_result());
  EXPECT_EQ(rows_of(section, "where_counts"),
            (std::vector<Texts>{{"high", "fast", "1", "0", "1", "1", "1"}}));
  EXPECT_EQ(rows_of(section, "where_without_G_counts"),
            (std::vector<Texts>{{"high", "fast", "2", "0", "1", "1"}}));
}

TEST(WinMapSection, TablesShowTheLeadTheTieAndWhoIsAlone) {
  const ReportSection section = section_of(small_result());
  EXPECT_EQ(rows_of(section, "where"),
            (std::vector<Texts>{{"high", "fast", "2", "G +200%", "-"},
                                {"high", "fast", "1", "A +20%", "B=A"}}));
  EXPECT_EQ(rows_of(section, "where_without_G")[0], (Texts{"high", "fast", "2", "A alone", "-"}));
  const Texts lead{"gamma", "1", "+200%", "alpha", "1K", "2", "high", "fast"};
  EXPECT_EQ(rows_of(section, "where_leads")[2], lead);
  EXPECT_EQ(rows_of(section, "where_leads")[1][1], "0");
}

TEST(WinMapSection, RowsForProgramsHoldEveryRate) {
  const ReportSection section = section_of(small_result());
  const testing::Texts raw =
      testing::exact(testing::section_table(section, "where", TableForm::csv));
  ASSERT_EQ(raw.size(), 4);
  EXPECT_EQ(raw[1],
            (Texts{"high", "fast", "2048", "1", "beta", "alpha", raw[1][6], "100", "100.5", "90"}));
  EXPECT_NEAR(std::stod(raw[1][6]), 0.005, 1e-12);
  EXPECT_EQ(raw[3], (Texts{"high", "fast", "2048", "2", "none", "", "", "", "", ""}));
  const auto json = nlohmann::json::parse(section.json);
  EXPECT_EQ(json["panels"][0]["winners"][1][0], "gamma");
  EXPECT_TRUE(json["panels"][0]["winners"][1][1].is_null());
  EXPECT_EQ(json["panels_without"]["panels"][0]["winners"][1][0], "alpha");
  EXPECT_EQ(json["tokens_per_s_by_panel_batch_context"]["alpha"][0][0][1], 100.0);
}

TEST(WinMapSection, FiguresAreDrawnWithAndWithout) {
  const ReportSection section = section_of(small_result());
  ASSERT_EQ(section.figures.size(), 2);
  EXPECT_EQ(section.figures[0].name, "where.svg");
  EXPECT_NE(section.figures[0].text.find(">gamma: 1</text>"), std::string::npos);
  EXPECT_EQ(section.figures[1].name, "where_without_G.svg");
  EXPECT_EQ(section.figures[1].text.find(">gamma:"), std::string::npos);
  EXPECT_NE(section.figures[1].text.find(">alpha: 2</text>"), std::string::npos);
}

std::string mistakes_in(const std::string& map) {
  Diagnostics diagnostics;
  const Document document =
      load_text("paper: p\nrows: []\nmaps:\n  - {id: a, title: t, column_title: c, row_title: r, " +
                    map + "}",
                "t.yaml", {}, diagnostics);
  read<Targets>(document, "targets", diagnostics);
  return diagnostics.text();
}

TEST(WinMap, MistakesSayWhatIsWrong) {
  const std::string ways =
      "ways: [{label: A, letter: A, scenario: a}, {label: B, letter: B, scenario: b}], ";
  const std::string axes = "contexts: [1, 2], batches: [1, 2], ";
  const std::string panels = "columns: [{label: x}], rows: [{label: y}]";
  EXPECT_EQ(mistakes_in(ways + axes + panels), "");
  const auto expect = [](const std::string& map, const std::string& message) {
    EXPECT_NE(mistakes_in(map).find(message), std::string::npos) << mistakes_in(map);
  };
  expect("ways: [{label: A, letter: A, scenario: a}], " + axes + panels, "fewer than two");
  expect("ways: [{label: A, letter: A, scenario: a}, {label: B, letter: A, scenario: b}], " + axes +
             panels,
         "two with the letter 'A'");
  expect("ways: [{label: A, letter: AB, scenario: a}, {label: B, letter: B, scenario: b}], " +
             axes + panels,
         "is not one character");
  expect(ways + "contexts: [2, 1], batches: [1], " + panels, "from the smallest to the largest");
  expect(ways + "contexts: [1], batches: [0], " + panels, "from the smallest to the largest");
  expect(ways + axes + "columns: [], rows: [{label: y}]", "columns: is empty");
  expect(ways + axes + "columns: [{label: x, scenario: s}], rows: [{label: y}]",
         "names a scenario");
  expect(ways + axes + panels + ", without: C", "names none of the ways");
  expect(ways + axes + panels + ", without: A", "leaves a single way");
}

}  // namespace
}  // namespace tiersim::win_map_test
