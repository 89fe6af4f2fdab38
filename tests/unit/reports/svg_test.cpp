#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/render/figure_svg.hpp"
#include "reports/render/gnuplot_script.hpp"
#include "reports/render/svg_canvas.hpp"

namespace tiersim::svg_test {
namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

TEST(SvgCanvas, NumbersHaveTwoDigitsAtMostAndNoNegativeZero) {
  SvgCanvas canvas;
  canvas.line({1.0 / 3, 2}, {-0.001, 10.5}, {.colour = "#000000", .width = 1});
  EXPECT_NE(canvas.page(10, 20, "t")
                .find("<line x1=\"0.33\" y1=\"2\" x2=\"0\" y2=\"10.5\" stroke=\"#000000\" "
                      "stroke-width=\"1\"/>"),
            std::string::npos);
}

TEST(SvgCanvas, TextIsEscapedAndControlCharactersAreBlanks) {
  SvgCanvas canvas;
  canvas.text({0, 0}, "a<b> & \"c\"\x01", {});
  const std::string page = canvas.page(10, 20, "x & y");
  EXPECT_NE(page.find(">a&lt;b&gt; &amp; &quot;c&quot; </text>"), std::string::npos);
  EXPECT_NE(page.find("<title>x &amp; y</title>"), std::string::npos);
}

// .6 of 10 px a character: "aa bb" is 30 px wide, "aa bb c" 42.
TEST(SvgCanvas, LinesBreakAtBlanksWhereTheNextWordIsTooWide) {
  EXPECT_EQ(text_lines("aa bb c", 10, 35), (std::vector<std::string>{"aa bb", "c"}));
  EXPECT_EQ(text_lines("", 10, 35), (std::vector<std::string>{""}));
  EXPECT_EQ(text_lines("toolongforit b", 10, 35), (std::vector<std::string>{"toolongforit", "b"}));
}

// Half way from 0x00, 0x80 and 0xFF to 255: 127.5, 191.5 and 255.
TEST(SvgCanvas, TintsMixWithWhite) {
  EXPECT_EQ(tinted("#0080FF", 1), "#0080FF");
  EXPECT_EQ(tinted("#0080FF", 0), "#FFFFFF");
  EXPECT_EQ(tinted("#0080FF", 0.5), "#80C0FF");
}

FigureSeries series_of(const std::string& name, const std::vector<double>& x,
                       const std::vector<double>& y) {
  FigureSeries out{.name = name, .points = {}};
  for (std::size_t i = 0; i < x.size(); ++i) out.points.push_back({.x = x[i], .y = y[i]});
  return out;
}

Figure two_panels() {
  Figure figure{.stem = "rate", .title = "rate", .columns = 3, .panels = {}};
  for (const char* panel : {"A", "B"})
    figure.panels.push_back({.title = panel,
                             .x = {.label = "context", .log_base = 2},
                             .y = {.label = "tokens/s"},
                             .series = {series_of("MLA", {1024, 2048, 4096}, {3, 2, 1}),
                                        series_of("TPLA", {1024, 2048, 4096}, {4, 3, 2})}});
  number_styles(figure);
  return figure;
}

TEST(LineFigure, OneLegendServesAllPanels) {
  const std::string svg = to_svg(two_panels());
  EXPECT_EQ(count(svg, ">MLA</text>"), 1);
  EXPECT_EQ(count(svg, ">TPLA</text>"), 1);
  EXPECT_EQ(count(svg, "<polyline"), 4);
  EXPECT_EQ(count(svg, ">1K</text>"), 2);
  EXPECT_EQ(svg, to_svg(two_panels()));
}

// The second panel has a point at 2 only. With a common axis of 1 to 4 it stands left of the middle
// by a sixth of the plot: 250 px less the insets of 8 px on both sides.
TEST(LineFigure, PanelsMayShareTheirXAxis) {
  const auto place = [](bool common) {
    Figure figure{.columns = 2, .common_x = common, .panels = {}};
    for (const auto& points : {std::vector<FigurePoint>{{.x = 1, .y = 1}, {.x = 4, .y = 1}},
                               std::vector<FigurePoint>{{.x = 2, .y = 1}}})
      figure.panels.push_back({.series = {{.name = "a", .points = points}}});
    const std::string svg = to_svg(figure);
    const std::size_t last = svg.rfind("cx=\"") + 4;
    return std::stod(svg.substr(last));
  };
  EXPECT_NEAR(place(false) - place(true), (250 - 16) / 6.0, 0.011);
}

// Without its middle point the line of three has no two neighbours left.
TEST(LineFigure, AMissingValueInterruptsTheLine) {
  Figure chart = two_panels();
  chart.panels.resize(1);
  chart.panels[0].series[0].points[1].y = kNoValue;
  const std::string svg = to_svg(chart);
  EXPECT_EQ(count(svg, "<polyline"), 1);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

// 40 values from 0.5 to 39.5: ticks at multiples of ten, not 40 of them.
TEST(LineFigure, ManyValuesOfALinearAxisHaveRoundTicks) {
  FigureSeries series{.name = "a", .points = {}};
  for (int i = 0; i < 40; ++i) series.points.push_back({.x = i + 0.5, .y = 1});
  const Figure chart{.title = "t",
                     .panels = {{.x = {.label = "x"}, .y = {.label = "y"}, .series = {series}}}};
  const std::string svg = to_svg(chart);
  for (const char* label : {">10<", ">20<", ">30<"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(svg.find(">0.5<"), std::string::npos);
}

TEST(LineFigure, AnEmptyPanelIsAFrame) {
  Figure chart = two_panels();
  chart.panels[0].series.clear();
  for (FigurePoint& point : chart.panels[1].series[0].points) point.y = 0;
  EXPECT_EQ(count(to_svg(chart), "<polyline"), 2);
}

// The axis goes up to a multiple of the step, 1, 2 or 5 times a power of ten, in five steps at
// most: 26000 takes steps of 10k.
TEST(LineFigure, TicksOfAnAxisCountInTheSameThousands) {
  Figure chart = two_panels();
  chart.panels.resize(1);
  chart.panels[0].series = {series_of("MLA", {1024, 2048, 4096}, {26000, 5000, 100})};
  const std::string svg = to_svg(chart);
  for (const char* tick : {">0</text>", ">10k</text>", ">20k</text>", ">30k</text>"})
    EXPECT_EQ(count(svg, tick), 1) << tick;
  EXPECT_EQ(count(svg, ">5000</text>"), 0);
}

// One drawing is as good as the other: both have every series, and a name once in the legend.
TEST(Figure, IsDrawnAsSvgAndWrittenForGnuplot) {
  const Figure figure = two_panels();
  const std::string script = gnuplot_script(figure);
  EXPECT_EQ(count(gnuplot_data(figure), "# panel: "), 4);
  EXPECT_EQ(count(script, "title \"MLA\""), 1);
  EXPECT_EQ(count(script, "set logscale x 2"), 2);
  EXPECT_EQ(count(to_svg(figure), ">MLA</text>"), 1);
}

TEST(Figure, NamesHaveOneStyleInAllPanels) {
  Figure figure = two_panels();
  figure.panels[0].series.erase(figure.panels[0].series.begin());  // TPLA comes first
  number_styles(figure);
  EXPECT_EQ(figure.panels[0].series[0].style, 0U);
  EXPECT_EQ(figure.panels[1].series[0].style, 1U);
  EXPECT_EQ(figure.panels[1].series[1].style, 0U);
}

Figure one_panel(std::vector<FigureCell> cells) {
  FigurePanel panel{.title = "c", .x = {.label = "x"}, .y = {.label = "y", .ticks = {{1, "1"}}}};
  panel.x.ticks.assign(cells.size(), {1024, "1K"});
  panel.cells = {std::move(cells)};
  return {.title = "map",
          .panels = {std::move(panel)},
          .row_titles = {"r"},
          .categories = {{"first", "A"}, {"second", "B"}},
          .empty = "none"};
}

TEST(MapFigure, EveryCellHasItsLetterAndTheLegendCounts) {
  const std::string svg = to_svg(one_panel({{.category = 0, .note = "+5%"}, {.category = 0}, {}}));
  EXPECT_EQ(count(svg, ">A</text>"), 3);  // two cells and the legend
  EXPECT_EQ(count(svg, ">B</text>"), 1);
  EXPECT_EQ(count(svg, ">+5%</text>"), 1);
  EXPECT_EQ(count(svg, ">first: 2</text>"), 1);
  EXPECT_EQ(count(svg, ">second: 0</text>"), 1);
  EXPECT_EQ(count(svg, ">none: 1</text>"), 1);
}

TEST(MapFigure, ATieIsDividedAndCountedForNeither) {
  const std::string svg = to_svg(one_panel({{.category = 0, .tied = 1}}));
  EXPECT_EQ(count(svg, ">A=B</text>"), 2);  // the cell and the legend
  EXPECT_EQ(count(svg, "<polygon"), 2);
  EXPECT_EQ(count(svg, ">first: 0</text>"), 1);
  EXPECT_EQ(count(svg, ">tied: 1</text>"), 1);
  EXPECT_EQ(count(svg, ">none"), 0);
}

}  // namespace
}  // namespace tiersim::svg_test
