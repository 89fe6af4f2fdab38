#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/render/category_map.hpp"
#include "reports/render/line_chart.hpp"
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

LineChart two_panels() {
  LineChart chart{.title = "rate", .x_label = "context", .y_label = "tokens/s", .panels = {}};
  for (const char* panel : {"A", "B"})
    chart.panels.push_back({.title = panel,
                            .series = {{.name = "MLA", .x = {1024, 2048, 4096}, .y = {3, 2, 1}},
                                       {.name = "TPLA", .x = {1024, 2048, 4096}, .y = {4, 3, 2}}}});
  return chart;
}

TEST(LineChart, OneLegendServesAllPanels) {
  const std::string svg = to_svg(two_panels());
  EXPECT_EQ(count(svg, ">MLA</text>"), 1);
  EXPECT_EQ(count(svg, ">TPLA</text>"), 1);
  EXPECT_EQ(count(svg, "<polyline"), 4);
  EXPECT_EQ(count(svg, ">1K</text>"), 2);
  EXPECT_EQ(svg, to_svg(two_panels()));
}

// Without its middle point the line of three has no two neighbours left.
TEST(LineChart, AMissingValueInterruptsTheLine) {
  LineChart chart = two_panels();
  chart.panels.resize(1);
  chart.panels[0].series[0].y[1] = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = to_svg(chart);
  EXPECT_EQ(count(svg, "<polyline"), 1);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

// 40 values from 0.5 to 39.5: ticks at multiples of ten, not 40 of them.
TEST(LineChart, ManyValuesOfALinearAxisHaveRoundTicks) {
  ChartSeries series{.name = "a", .x = {}, .y = {}};
  for (int i = 0; i < 40; ++i) {
    series.x.push_back(i + 0.5);
    series.y.push_back(1);
  }
  const LineChart chart{.title = "t",
                        .x_label = "x",
                        .y_label = "y",
                        .panels = {{.title = "", .series = {series}}},
                        .log_x = false};
  const std::string svg = to_svg(chart);
  for (const char* label : {">10<", ">20<", ">30<"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(svg.find(">0.5<"), std::string::npos);
}

TEST(LineChart, AnEmptyPanelIsAFrame) {
  LineChart chart = two_panels();
  chart.panels[0].series.clear();
  chart.panels[1].series[0].y = {0, 0, 0};
  EXPECT_EQ(count(to_svg(chart), "<polyline"), 2);
}

// The axis goes up to a multiple of the step, 1, 2 or 5 times a power of ten, in five steps at
// most: 26000 takes steps of 10k.
TEST(LineChart, TicksOfAnAxisCountInTheSameThousands) {
  LineChart chart = two_panels();
  chart.panels.resize(1);
  chart.panels[0].series.resize(1);
  chart.panels[0].series[0].y = {26000, 5000, 100};
  const std::string svg = to_svg(chart);
  for (const char* tick : {">0</text>", ">10k</text>", ">20k</text>", ">30k</text>"})
    EXPECT_EQ(count(svg, tick), 1) << tick;
  EXPECT_EQ(count(svg, ">5000</text>"), 0);
}

CategoryMap one_panel(std::vector<MapCell> cells) {
  return {.title = "map",
          .x_label = "x",
          .y_label = "y",
          .x_ticks = std::vector<std::string>(cells.size(), "1K"),
          .y_ticks = {"1"},
          .columns = {"c"},
          .rows = {"r"},
          .categories = {{"first", "A"}, {"second", "B"}},
          .empty = "none",
          .panels = {{{std::move(cells)}}}};
}

TEST(CategoryMap, EveryCellHasItsLetterAndTheLegendCounts) {
  const std::string svg = to_svg(one_panel({{.category = 0, .note = "+5%"}, {.category = 0}, {}}));
  EXPECT_EQ(count(svg, ">A</text>"), 3);  // two cells and the legend
  EXPECT_EQ(count(svg, ">B</text>"), 1);
  EXPECT_EQ(count(svg, ">+5%</text>"), 1);
  EXPECT_EQ(count(svg, ">first: 2</text>"), 1);
  EXPECT_EQ(count(svg, ">second: 0</text>"), 1);
  EXPECT_EQ(count(svg, ">none: 1</text>"), 1);
}

TEST(CategoryMap, ATieIsDividedAndCountedForNeither) {
  const std::string svg = to_svg(one_panel({{.category = 0, .tied = 1}}));
  EXPECT_EQ(count(svg, ">A=B</text>"), 2);  // the cell and the legend
  EXPECT_EQ(count(svg, "<polygon"), 2);
  EXPECT_EQ(count(svg, ">first: 0</text>"), 1);
  EXPECT_EQ(count(svg, ">tied: 1</text>"), 1);
  EXPECT_EQ(count(svg, ">none"), 0);
}

}  // namespace
}  // namespace tiersim::svg_test
