// A grid of ratios: cells that are near, explained ratios, known cells, and the complete report.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/reports/comparison_results.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::grid_test {
namespace {

using testing::grid;
using testing::result_of;
using testing::section_table;
using testing::shown;
using testing::speedup;

TEST(Grid, ACellIsNearByItsOwnBandAndNearAllInEveryCase) {
  const GridResult r = grid();
  EXPECT_TRUE(r.near(r.cells[0], 0));
  EXPECT_TRUE(r.near(r.cells[0], 1));
  EXPECT_FALSE(r.near(r.cells[1], 0));
  EXPECT_TRUE(r.near(r.cells[1], 1));
  EXPECT_TRUE(r.near(r.cells[2], 0));
  EXPECT_FALSE(r.near(r.cells[2], 1));
  EXPECT_FALSE(r.near(r.cells[3], 0));  // does not run
  EXPECT_TRUE(r.near_all(r.cells[0]));
  for (const std::size_t cell : {1U, 2U, 3U}) EXPECT_FALSE(r.near_all(r.cells[cell])) << cell;
}

// Within 5 % of both is none: 3.24 is 8 % off.
TEST(GridPrinted, IsExplainedByOneCellAndSaysHowFew) {
  const ReportSection section = section_of(grid());
  const TargetResult one = result_of(section, "p.grid.one");
  EXPECT_EQ(one.status, "explained");
  EXPECT_EQ(one.reading, "paper");
  EXPECT_EQ(one.paper, 2);
  EXPECT_EQ(one.simulated, 2.08);
  EXPECT_NEAR(one.tolerance, 0.1, 1e-12);
  EXPECT_EQ(one.why,
            "of 4 cells 2 are near this value, 1 near all and 0 within 5 % of all; ratios 1.200 to "
            "2.080; the nearest: A, unpadded, attention, split, .9, none");
  const TargetResult two = result_of(section, "p.grid.two");
  EXPECT_EQ(two.status, "explained");
  EXPECT_EQ(two.simulated, 3.24);
}

TEST(GridPrinted, IsUnexplainedWhereEachValueIsNearInAnotherCell) {
  GridResult r = grid();
  r.cells[0].cases[1] = speedup(2.6);
  const ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "p.grid.one").status, "unexplained");
  EXPECT_EQ(result_of(section, "p.grid.two").status, "unexplained");
  EXPECT_NE(result_of(section, "p.grid.one").why.find("2 are near this value, 0 near all"),
            std::string::npos);
}

TEST(GridPrinted, SaysWhereNoCellReachesTheValue) {
  GridResult r = grid();
  r.grid.cases[0].paper = 2.1;
  r.grid.cases[1].paper = 1.9;
  const ReportSection section = section_of(r);
  EXPECT_NE(
      result_of(section, "p.grid.one").why.find("ratios 1.200 to 2.080, none as large as printed"),
      std::string::npos);
  EXPECT_NE(
      result_of(section, "p.grid.two").why.find("ratios 2.000 to 3.240, none as small as printed"),
      std::string::npos);
  for (GridCell& cell : r.cells) cell.cases[0].reset();
  EXPECT_NE(result_of(section_of(r), "p.grid.one").why.find("ratios none can run"),
            std::string::npos);
}

// The only cell near both is on A, unpadded.
TEST(GridSubsets, AreExplainedByTheirOwnCellsAlone) {
  GridResult r = grid();
  r.grid.subsets = {{.id = "p.a", .says = "on A", .machines = {"A"}},
                    {.id = "p.b", .says = "on B", .machines = {"B"}},
                    {.id = "p.tiles", .says = "tiles", .tiles = {"128"}},
                    {.id = "p.all", .says = "all", .regions = {Region::attention}}};
  const ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "p.a.one").status, "explained");
  EXPECT_EQ(result_of(section, "p.a.one").simulated, 2.08);
  EXPECT_EQ(result_of(section, "p.a.two").why,
            "on A: 1 of 2 cells are near all; ratios 3.00 to 3.24");
  EXPECT_EQ(result_of(section, "p.b.two").status, "unexplained");
  EXPECT_EQ(result_of(section, "p.b.two").why,
            "on B: 0 of 2 cells are near all; ratios 2.00 to 3.10");
  EXPECT_EQ(result_of(section, "p.b.one").why,  // one of its cells does not run
            "on B: 0 of 2 cells are near all; ratios 2.00 to 2.00");
  EXPECT_EQ(result_of(section, "p.tiles.one").status, "unexplained");
  EXPECT_EQ(result_of(section, "p.all.one").status, "explained");
}

KnownCell known(double one, double two) {
  return {.id = "p.known",
          .machine = "A",
          .tiles = "128",
          .region = Region::attention,
          .output_projection = OutputProjection::split,
          .batch = ".9",
          .host = "none",
          .ratios = {one, two},
          .tolerance = 0.03,
          .why = "by hand"};
}

TEST(GridKnown, PassesWithinItsToleranceAndFailsBeyond) {
  GridResult r = grid();
  r.grid.known = {known(1.2 / 1.029, 3 / 0.969)};
  ReportSection section = section_of(r);
  EXPECT_EQ(result_of(section, "p.known.one").status, "pass");
  EXPECT_EQ(result_of(section, "p.known.one").simulated, 1.2);
  EXPECT_EQ(result_of(section, "p.known.one").reading, "first_principles");
  EXPECT_EQ(result_of(section, "p.known.two").status, "fail");
  EXPECT_EQ(section_table(section, "grid_factors").rows.size(), 2);
  r.grid.known[0].approximate = true;
  EXPECT_EQ(result_of(section_of(r), "p.known.two").status, "consistency");
  r.grid.known = {known(1.2, 0)};
  section = section_of(r);
  EXPECT_THROW(result_of(section, "p.known.two"), std::runtime_error);  // not worked out
  r.cells[1].cases[0].reset();
  EXPECT_EQ(result_of(section_of(r), "p.known.one").status, "fail");  // does not run
}

TEST(GridKnown, IsLookedUpByEveryChoice) {
  GridResult r = grid();
  r.grid.known = {known(2, 2)};
  r.grid.known[0].machine = "B";
  r.grid.known[0].tiles = "unpadded";
  EXPECT_EQ(result_of(section_of(r), "p.known.two").status, "pass");
}

TEST(GridFactors, FailWhereOneOfThemIsNotWhatItWas) {
  GridResult r = grid();
  EXPECT_EQ(result_of(section_of(r), "p.grid.factors").status, "pass");
  EXPECT_LT(result_of(section_of(r), "p.grid.factors").simulated, 1e-15);
  r.cells[3].cases[1]->factors[2] = 1 + 2e-6;
  const TargetResult tampered = result_of(section_of(r), "p.grid.factors");
  EXPECT_EQ(tampered.status, "fail");
  EXPECT_NEAR(tampered.simulated, 2e-6, 1e-12);
  r.cells[3].cases[1]->factors[2] = 1 - 2e-6;
  EXPECT_EQ(result_of(section_of(r), "p.grid.factors").status, "fail");
}

TEST(GridCommon, CountsChoicesAmongTheCellsThatExplain) {
  const Table table = section_table(section_of(grid()), "grid_common");
  EXPECT_EQ(table.columns[3].title, "all within 5 %");
  const std::vector<std::vector<std::string>> expected{
      {"machine", "A", "1", "0", "2"},        {"machine", "B", "0", "0", "2"},
      {"tiles", "unpadded", "1", "0", "2"},   {"tiles", "128", "0", "0", "2"},
      {"region", "attention", "1", "0", "4"}, {"output projection", "split", "1", "0", "4"},
      {"batch", ".9", "1", "0", "4"},         {"host", "none", "1", "0", "4"}};
  EXPECT_EQ(shown(table), expected);
  GridResult r = grid();
  r.cells[0].cases[1] = speedup(3.1);
  EXPECT_EQ(shown(section_table(section_of(r), "grid_common"))[0][3], "1");
}

TEST(GridTables, ShowTheNearestCellsFirstWithMarks) {
  const Table table = section_table(section_of(grid()), "grid");
  ASSERT_EQ(table.rows.size(), 7);  // a case that does not run has no row
  EXPECT_EQ(shown(table)[0],
            (std::vector<std::string>{"A", "unpadded", "attention", "split", ".9", "none", "one",
                                      "2.080", "near", "4 -> 8", "HBM -> FLOP",
                                      "1.664 x 1.000 x 1.000 x 1.000 x 1.250 x 1.000"}));
  // By the sum of relative distances: 0 + 1/3, .4 + 0, 1 + 1/30.
  EXPECT_EQ(shown(table)[2][0] + shown(table)[2][1], "Bunpadded");
  EXPECT_EQ(shown(table)[4][0] + shown(table)[4][1], "A128");
  EXPECT_EQ(shown(table)[2][8], "near");  // one of its cases
  EXPECT_EQ(shown(table)[3][8], "");
  EXPECT_NE(table.title.find("(1 of 4 cells are near all; the nearest 12)"), std::string::npos);
  EXPECT_EQ(section_table(section_of(grid()), "grid", TableForm::csv).rows.size(), 7);
}

TEST(GridTables, RangesAreOverAllOtherChoices) {
  GridResult r = grid();
  r.grid.hosts.push_back({.label = "declared"});
  r.cells.push_back({.machine = 0, .tiles = 0, .host = 1, .cases = {speedup(1.5), speedup(3.24)}});
  const ReportSection section = section_of(r);
  const Table one = section_table(section, "grid_one");
  EXPECT_EQ(shown(one)[0], (std::vector<std::string>{"A", "unpadded", "1.50-2.08"}));
  EXPECT_EQ(shown(one)[1], (std::vector<std::string>{"A", "128", "1.20"}));
  EXPECT_EQ(shown(one)[3], (std::vector<std::string>{"B", "128", "-"}));
  EXPECT_EQ(shown(section_table(section, "grid_two"))[0][2], "3.24");
}

TEST(GridJson, HasEveryCellOfEveryCase) {
  const auto json = nlohmann::json::parse(section_of(grid()).json);
  ASSERT_EQ(json["cells"].size(), 8);
  const auto& first = json["cells"][0];
  EXPECT_EQ(first["tiles"], "unpadded");
  EXPECT_EQ(first["case"], "one");
  EXPECT_EQ(first["ratio"], 2.08);
  EXPECT_EQ(first["near_all"], true);
  EXPECT_EQ(first["factors"]["batch"], 1.25);
  EXPECT_EQ(first["other"]["limit"], "FLOP");
  EXPECT_EQ(json["cells"][6]["problem"], "not even one sequence fits");
  EXPECT_FALSE(json["cells"][6].contains("ratio"));
}

}  // namespace
}  // namespace tiersim::grid_test
