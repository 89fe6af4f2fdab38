#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "reports/papers/figures/paper_figures.hpp"
#include "reports/papers/reproduce/latex_folder.hpp"
#include "reports/papers/reproduce/reading_table.hpp"
#include "reports/render/gnuplot_script.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::figures_test {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

Figure two_panels() {
  Figure figure{.stem = "figure", .caption = "c", .panels = {}};
  FigurePanel left{.title = "left"};
  left.series.push_back({.name = "a", .points = {{.x = 1, .y = 2.5, .low = 2, .high = 3}}});
  left.series.push_back({.name = "paper",
                         .role = SeriesRole::paper,
                         .mark = SeriesMark::points,
                         .points = {{.x = 1, .y = kNoValue}}});
  FigurePanel right{.title = "right"};
  right.series.push_back({.name = "a", .points = {}});
  right.series.push_back({.name = "bars", .mark = SeriesMark::bars, .points = {{.x = 0, .y = 4}}});
  figure.panels = {left, right};
  return figure;
}

TEST(GnuplotData, HasABlockForEverySeriesAndNaNForWhatIsNotThere) {
  EXPECT_EQ(gnuplot_data(two_panels()),
            "# panel: left | series: a | simulated\n# x y low high from\n1 2.5 2 3 0\n\n\n"
            "# panel: left | series: paper | paper\n# x y low high from\n1 NaN NaN NaN 0\n\n\n"
            "# panel: right | series: a | simulated\n# x y low high from\nNaN NaN NaN NaN NaN\n\n\n"
            "# panel: right | series: bars | simulated\n# x y low high from\n0 4 NaN NaN 0\n");
}

TEST(GnuplotScript, ReadsTheBlocksInTheirOrderAndNamesASeriesOnceForAllPanels) {
  const std::string script = gnuplot_script(two_panels());
  for (const char* index : {"index 0 ", "index 1 ", "index 2 ", "index 3 "})
    EXPECT_NE(script.find(index), std::string::npos) << index;
  EXPECT_EQ(script.find("index 4 "), std::string::npos);
  EXPECT_EQ(count(script, "title \"a\""), 1U);
  EXPECT_EQ(count(script, "with vectors"), 1U);  // the one series with an interval
}

TEST(GnuplotScript, IsAsWideAsAColumnAndDrawsBothFormats) {
  const std::string script = gnuplot_script(two_panels());
  EXPECT_NE(script.find("size 322,"), std::string::npos);  // 3.35 in at 96 px
  EXPECT_NE(script.find("pdfcairo size 3.3500in,"), std::string::npos);
  EXPECT_NE(script.find("set output \"figure.svg\""), std::string::npos);
  EXPECT_NE(script.find("set output \"figure.pdf\""), std::string::npos);
}

TEST(GnuplotScript, PrintedValuesAreHollowAndBlack) {
  const std::string script = gnuplot_script(two_panels());
  EXPECT_NE(script.find("index 1 using 1:2 with points pt 6 ps 0.8*s lc rgb \"#000000\""),
            std::string::npos);
}

TEST(GnuplotQuoted, TextCannotEndTheQuotes) {
  EXPECT_EQ(gnuplot_quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
}

TEST(GnuplotQuoted, NothingIsRunThatANameHasInBackquotes) {
  EXPECT_EQ(gnuplot_quoted("a `touch b` c"), "\"a \\140touch b\\140 c\"");
}

TEST(GnuplotData, ANameOfTwoLinesStaysInItsComment) {
  Figure figure = two_panels();
  figure.panels[0].title = "first\n1 2 3 4 5";
  const std::string data = gnuplot_data(figure);
  EXPECT_EQ(data.find("\n1 2 3 4 5"), std::string::npos);
  EXPECT_NE(data.find("# panel: first 1 2 3 4 5 | "), std::string::npos);
}

TEST(ValueTicks, MultiplesOf1024AreThousands) {
  const auto ticks = value_ticks({0.25, 512, 1024, 131072});
  EXPECT_EQ(ticks[0].second, "0.25");
  EXPECT_EQ(ticks[1].second, "512");
  EXPECT_EQ(ticks[2].second, "1K");
  EXPECT_EQ(ticks[3].second, "128K");
}

TEST(LatexText, EscapesWhatLatexReads) {
  EXPECT_EQ(latex_text("5 % & a_b < c # $ {d} \\"),
            "5 \\% \\& a\\_b $<$ c \\# \\$ \\{d\\} \\textbackslash{}");
  EXPECT_EQ(latex_text("\xC2\xB5s"), "?s");
  EXPECT_EQ(latex_text("what `full_1` needs"), "what \\texttt{full\\_1} needs");
  EXPECT_EQ(latex_text("one ` alone"), "one \\`{} alone");
}

TEST(SectionFigureStem, IsNotThatOfThePaperSFigure) {
  EXPECT_EQ(section_figure_stem({.name = "early-exit", .paper = "P", .rows = {}, .steps = {}},
                                {"engine_h100.svg", ""}),
            "early_exit_engine_h100_all");
}

PaperReport one_cell_in_both_readings() {
  const TargetResult cell{.id = "p.row.footprint",
                          .reading = "paper",
                          .paper = 1000,
                          .simulated = 1000,
                          .unit = "GiB",
                          .tolerance = 0.5,
                          .status = "pass",
                          .why = {}};
  TargetResult other = cell;
  other.reading = "first_principles";
  other.simulated = 800;
  other.status = "rule";
  other.why = "40 heads of 128";
  return {.name = "p",
          .paper = "P",
          .rows = {{{.id = "p.row", .label = "M", .method = "dense", .where = "Table 1"}, {cell}},
                   {{.id = "p.row",
                     .label = "M",
                     .method = "dense",
                     .reading = Reading::first_principles,
                     .where = "Table 1"},
                    {other}}},
          .steps = {}};
}

TEST(ReadingTable, HasEachPrintedValueOnceWithBothReadings) {
  const Table table = reading_table(one_cell_in_both_readings());
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(testing::shown(table)[0],
            (std::vector<std::string>{"M", "dense", "footprint", "1000", "1000", "pass", "800",
                                      "rule [1]", "GiB", "Table 1"}));
  EXPECT_EQ(table.notes, std::vector<std::string>{"[1] 40 heads of 128"});
}

TEST(StatusCounts, CountEveryResultOnce) {
  const auto counts = status_counts(all_results(one_cell_in_both_readings()));
  EXPECT_EQ(counts, (std::map<std::string, std::size_t>{{"pass", 1}, {"rule", 1}}));
}

TEST(PaperFigures, AReportWithoutStudiesHasOnlyTheTableThatItHas) {
  EXPECT_TRUE(figures_of(one_cell_in_both_readings(), {}).empty());
  PaperReport report = one_cell_in_both_readings();
  for (ReproducedRow& row : report.rows) row.cells[0].id = "maple.table1.m.dense.footprint";
  const auto figures = figures_of(report, {});
  ASSERT_EQ(figures.size(), 1U);
  ASSERT_EQ(figures[0].panels.size(), 1U);
  const auto& series = figures[0].panels[0].series;
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[0].points[0].y, 1000);
  EXPECT_EQ(series[1].points[0].y, 800);
  EXPECT_EQ(series[2].role, SeriesRole::paper);
  EXPECT_EQ(series[2].points[0].y, 1000);
  EXPECT_EQ(figures[0].panels[0].texts.at(0).text, "*");  // first principles contradict it
}

}  // namespace
}  // namespace tiersim::figures_test
