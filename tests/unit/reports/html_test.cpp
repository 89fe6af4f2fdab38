#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "reports/html/markup.hpp"
#include "reports/html/page.hpp"
#include "reports/html/points_charts.hpp"
#include "reports/html/points_data.hpp"
#include "reports/html/points_page.hpp"
#include "reports/html/points_view.hpp"

namespace tiersim::html_test {
namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

TEST(Markup, TextIsEscapedOnceAndWhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(html_escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(html_escaped("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  // A lone continuation, an overlong '/', a surrogate: one replacement a byte.
  EXPECT_EQ(html_escaped("\x80|\xC0\xAF|\xED\xA0\x80"),
            "\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(html_escaped(std::string("a\0b\x1B"
                                     "c\n",
                                     6)),
            "a b c\n");
}

TEST(Markup, NoTextInJsonEndsItsScript) {
  const std::string json = json_for_script(R"({"a":"</script><!-- & "})");
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json)["a"], "</script><!-- & ");
}

TEST(Markup, IdsOfDrawingsGetThePrefixAndStylesBecomeAttributes) {
  EXPECT_EQ(inline_svg("<?xml version=\"1.0\"?>\n<!-- x > y -->\n<svg><g id='a' "
                       "style='fill:none; stroke : url(#b)'/><use xlink:href=\"#a\"/>t</svg>\n",
                       "f1-"),
            "<svg><g id=\"f1-a\" fill=\"none\" stroke=\"url(#f1-b)\"/><use "
            "xlink:href=\"#f1-a\"/>t</svg>");
}

TEST(Markup, WordsInBackquotesAreCode) {
  EXPECT_EQ(html_prose("the host that `<full>` needs, `a` 'b").markup,
            "the host that <code>&lt;full&gt;</code> needs, <code>a</code> &#39;b");
  EXPECT_EQ(html_prose("one ` alone").markup, "one ` alone");
  EXPECT_EQ(plain_prose("what `full` needs"), "what full needs");
}

TEST(Page, CaptionsShowCodeAndReadersHearNoBackquotes) {
  Page page("t");
  page.figure({.svg = "<svg></svg>", .caption = "What `full` needs"});
  const std::string html = page.html();
  EXPECT_EQ(count(html, "<figcaption>What <code>full</code> needs</figcaption>"), 1);
  EXPECT_EQ(count(html, "aria-label=\"What full needs\""), 1);
}

TEST(Page, CaptionsLinkToFilesWhoseNamesAreEscaped) {
  Page page("t");
  page.figure({.svg = "<svg></svg>",
               .caption = "C.",
               .files = {{"a.pdf", "figures/a.pdf"}, {"<b>", "javascript:b \"c\""}}});
  const std::string html = page.html();
  EXPECT_EQ(count(html,
                  "<figcaption>C. <a href=\"figures/a.pdf\">a.pdf</a> "
                  "<a href=\"javascript%3Ab%20%22c%22\">&lt;b&gt;</a></figcaption>"),
            1);
}

TEST(Page, OnlyColumnsOfNumbersAreAlignedRight) {
  Page page("t");
  page.table({.title = "",
              .columns = {{"rule"}, {"rate"}, {"unit"}},
              .rows = {{"all_rows", "does not fit", "-"}, {"per_sequence", "12", "-"}}});
  const std::string html = page.html();
  EXPECT_EQ(count(html, "<th scope=\"row\">all_rows</th>"), 1);
  EXPECT_EQ(count(html, "<td class=\"n\">12</td>"), 1);
  EXPECT_EQ(count(html, "<td class=\"n\">-</td>"), 2);
}

TEST(Page, IdsAreUniqueAndPolicyAllowsNothingButWhatIsThere) {
  Page page("T & <t>");
  EXPECT_EQ(page.section("A & B"), "a-b");
  EXPECT_EQ(page.section("A b"), "a-b-2");
  page.table({.title = "A b", .columns = {{"x"}}, .rows = {{"<1>"}}});
  page.script("\"x\";");
  const std::string html = page.html();
  EXPECT_EQ(count(html, "id=\"a-b-3\""), 1);
  EXPECT_EQ(count(html, "<th scope=\"row\" class=\"n\">&lt;1&gt;</th>"), 1);
  EXPECT_EQ(count(html, "default-src 'none'"), 1);
  // printf '"x";' | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(count(html, "'sha256-KA7s/Wo0VS5CCzDh0hGMCDCsHeH2ITNR8BEM6n68dhw='"), 1);
  EXPECT_EQ(count(html, "unsafe-"), 0);
  EXPECT_EQ(html, page.html());
}

TEST(Page, LongTablesSayHowManyRowsThereAre) {
  Page page("t");
  page.table({.title = "", .columns = {{"x"}}, .rows = {{"1"}, {"2"}, {"3"}}}, {.shown_max = 2});
  EXPECT_EQ(count(page.html(), "The first 2 of 3 rows."), 1);
  EXPECT_EQ(count(page.html(), "<tr>"), 3);
}

// Throughput over context; 4096 is dominated: slower and larger.
PointTable three_points() {
  PointTable table{
      .title = "three <points>",
      .source = "s.db",
      .columns = {{"context", "step.context", true}, {"pool", "", true}},
      .objectives = {{"throughput_tokens_per_s", true}, {"kv_footprint_bytes", false}}};
  const auto add = [&](const char* context, double rate, double bytes) {
    auto record = std::make_shared<RunRecord>();
    record->metrics["throughput_tokens_per_s"] = {rate, "tokens/s", NumberClass::assumed,
                                                  Interval<double>{rate - 1, rate + 1}};
    record->metrics["kv_footprint_bytes"] = {bytes, "B", NumberClass::specification};
    const auto position = static_cast<std::int64_t>(table.points.size());
    table.points.push_back({.position = position,
                            .labels = {context, "48 GB/s"},
                            .run_id = "id",
                            .rerun = "tiersim run a.yaml --set b=" + std::to_string(position),
                            .record = record});
  };
  add("2048", 30, 1000);
  add("1024", 20, 500);
  add("4096", 10, 2000);
  return table;
}

TEST(PointsView, AxesAreSortedByNumberAndTheFrontIsOfTheObjectives) {
  const PointTable table = three_points();
  const PointsView view = view_of(table);
  EXPECT_EQ(view.columns[0].numbers, (std::vector<double>{2048, 1024, 4096}));
  EXPECT_EQ(view.columns[0].order, (std::vector<std::size_t>{1, 0, 2}));
  EXPECT_EQ(view.columns[1].unit, "GB/s");
  ASSERT_EQ(view.columns[1].numbers.size(), 1U);
  EXPECT_DOUBLE_EQ(view.columns[1].numbers[0], 48);
  EXPECT_EQ(view.main_axis(), std::optional<std::size_t>(0));
  EXPECT_EQ(view.front, (std::vector<std::size_t>{0, 1}));
}

TEST(PointsData, ColumnsHoldEveryLabelAndWordOnce) {
  const PointTable table = three_points();
  const auto json = nlohmann::json::parse(points_json(table, view_of(table)));
  EXPECT_EQ(json["points"], 3);
  EXPECT_EQ(json["columns"][1]["labels"].size(), 1U);
  EXPECT_EQ(json["words"].size(), 7U);  // tiersim run a.yaml --set b=0 b=1 b=2
  EXPECT_EQ(json["rerun"][2], nlohmann::json({0, 1, 2, 3, 6}));
  for (const auto& metric : json["metrics"])
    if (metric["name"] == "throughput_tokens_per_s") {
      EXPECT_EQ(metric["values"], nlohmann::json({30, 20, 10}));
      EXPECT_EQ(metric["high"], nlohmann::json({31, 21, 11}));
    }
}

TEST(PointsData, PositionsAreThereWhereTheyAreNoIndices) {
  PointTable table = three_points();
  EXPECT_FALSE(nlohmann::json::parse(points_json(table, view_of(table))).contains("positions"));
  table.points[2].position = 121;  // of a shard, or after --where
  const auto json = nlohmann::json::parse(points_json(table, view_of(table)));
  EXPECT_EQ(json["positions"], nlohmann::json({0, 1, 121}));
}

TEST(PointsPage, AnAxisOfNamesListsThemAndOneOfNumbersHasEnds) {
  PointTable table = three_points();
  table.columns[1] = {"method", "method.name", false};
  table.points[0].labels[1] = "quest";
  table.points[1].labels[1] = "<loki>";
  table.points[2].labels[1] = "";
  const std::string html = points_page(table, {.version = "1"});
  EXPECT_EQ(count(html, "<dd>3 values, 1024 to 4096</dd>"), 1);
  EXPECT_EQ(count(html, "<dd>3 values: quest, &lt;loki&gt;, (none)</dd>"), 1);
}

TEST(PointsPage, AnAxisThatSomePointsLackEndsWithANumber) {
  PointTable table = three_points();
  table.points[2].labels[0] = "";
  const std::string html = points_page(table, {.version = "1"});
  EXPECT_EQ(count(html, "<dd>3 values, 1024 to 2048, and none</dd>"), 1);
}

// Two methods with eight budgets at two contexts: each method has a panel with a line of two
// points, those of one budget. The middle of eight, in order, is the fifth.
TEST(PointsPage, AChartHasAPanelForEachMethodAndNoValueOverSeveralPoints) {
  PointTable table{.columns = {{"context", "step.context", true},
                               {"method", "method.name", false},
                               {"budget", "method.budget", true}}};
  double rate = 0;
  for (const char* method : {"quest", "maple"})
    for (const char* budget : {"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"})
      for (const char* context : {"1024", "2048", "4096"}) {
        auto record = std::make_shared<RunRecord>();
        record->metrics["throughput_tokens_per_s"] = {++rate, "tokens/s", NumberClass::assumed};
        table.points.push_back({.labels = {context, method, budget}, .record = record});
      }
  const auto without_axis = [&] {
    table.columns[0].numeric = false;  // then the budgets are the axis
    return *curves_figure(table, view_of(table));
  };
  const auto figure = without_axis();
  EXPECT_EQ(count(figure.svg, ">method quest</text>"), 1U);
  EXPECT_EQ(count(figure.svg, ">method maple</text>"), 1U);
  EXPECT_EQ(count(figure.svg, "<polyline"), 6U) << "a line for each context and method";
  EXPECT_EQ(figure.caption.find("median"), std::string::npos) << figure.caption;
  // Contexts of more values than budgets are the axis, and the budgets are held.
  for (std::size_t p = 0; p < table.points.size(); ++p)
    if (p % 3 == 2) table.points[p].labels[0] = std::to_string(4096 + 1024 * (p / 3 % 8));
  table.columns[0].numeric = true;
  const auto held = *curves_figure(table, view_of(table));
  EXPECT_EQ(count(held.svg, ">method quest</text>"), 1U);
  EXPECT_EQ(count(held.svg, "<polyline"), 2U);
  EXPECT_NE(held.caption.find("Drawn are the points of budget 0.5;"), std::string::npos)
      << held.caption;
}

// Three points have the same machine, and nine have one of their own. A line joins the three.
TEST(PointsPage, OfASampleEachPointIsAMarkAndNoLineJoinsThem) {
  PointTable table = three_points();
  for (int again = 0; again < 3; ++again)
    for (const ReportPoint& point : three_points().points) table.points.push_back(point);
  table.columns.push_back({"machine", "", true});
  for (std::size_t p = 0; p < table.points.size(); ++p)
    table.points[p].labels.push_back(std::to_string(p < 3 ? 0 : p));
  const auto curves = [&] { return *curves_figure(table, view_of(table)); };
  EXPECT_EQ(count(curves().svg, "<polyline"), 1U);
  EXPECT_NE(curves().caption.find("Drawn are the points of machine 0;"), std::string::npos);
  table.chosen = true;
  EXPECT_EQ(count(curves().svg, "<polyline"), 0U);
  EXPECT_NE(curves().caption.find("no line joins them"), std::string::npos);
}

// Of 4000 dominated points among 4002 one in two is drawn, and all of the front with its knee.
TEST(PointsPage, OfManyPointsTheFrontKeepsItsKnee) {
  PointTable table = three_points();
  const std::string few = front_figure(table, view_of(table))->svg;
  for (int again = 0; again < 3999; ++again) table.points.push_back(table.points[2]);
  const auto many = front_figure(table, view_of(table));
  ASSERT_TRUE(many);
  EXPECT_NE(many->caption.find("one in 2 is drawn"), std::string::npos) << many->caption;
  const auto rings = [](const std::string& svg) { return count(svg, "r=\"7.5\""); };
  EXPECT_EQ(rings(few), 1U);
  EXPECT_EQ(rings(many->svg), 1U);
}

TEST(PointsPage, ThePickedPointStandsBelowTheCharts) {
  const std::string html = points_page(three_points(), {.version = "1"});
  EXPECT_LT(html.rfind("<figure"), html.find("id=\"picked\""));
}

TEST(PointsPage, PointsWithoutResultsSayWhy) {
  PointTable table = three_points();
  table.points[2].record = nullptr;
  table.points[2].problem = "tier 'hbm' is <full>";
  const std::string html = points_page(table, {.version = "1"});
  EXPECT_EQ(count(html, "<h1>three &lt;points&gt;</h1>"), 1);
  EXPECT_EQ(count(html, "tier &#39;hbm&#39; is &lt;full&gt;"), 1);
  EXPECT_EQ(count(html, ">20 [19, 21]</td>"), 2);  // in all points and on the front
}

}  // namespace
}  // namespace tiersim::html_test
