#include "reports/html/points_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "reports/html/best_section.hpp"
#include "reports/html/embedded.hpp"
#include "reports/html/page.hpp"
#include "reports/html/points_charts.hpp"
#include "reports/html/points_data.hpp"
#include "reports/html/points_view.hpp"
#include "reports/points/point_values.hpp"
#include "sim/base/check.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kFrontMax = 200;  // rows of the front and of the commands
constexpr std::size_t kProblemsMax = 200;
constexpr std::size_t kNumbersMax = 500;  // numbers with a source

// "12.3 [11.9, 12.8] ms"; each value has its own unit where units differ.
std::string cell(const MetricColumn& metric, std::size_t point) {
  if (std::isnan(metric.values[point])) return "";
  const auto text = [&](double value) { return display(value, metric.unit); };
  std::string middle = text(metric.values[point]);
  if (metric.low.empty() || std::isnan(metric.low[point])) return middle;
  const std::string low = text(metric.low[point]);
  const std::string high = text(metric.high[point]);
  const std::size_t blank = middle.find(' ');
  const std::string unit = blank == std::string::npos ? "" : middle.substr(blank);
  if (!low.ends_with(unit) || !high.ends_with(unit))
    return fmt::format("{} [{}, {}]", middle, low, high);
  const auto bare = [&](const std::string& t) { return t.substr(0, t.size() - unit.size()); };
  return fmt::format("{} [{}, {}]{}", bare(middle), bare(low), bare(high), unit);
}

// "50 values"; `all` is the number of labels where the page has some of them, and 0 if unknown.
std::string values_text(const LabelColumn& column, std::optional<std::size_t> all) {
  if (!all || *all == column.labels.size()) return fmt::format("{} values", column.labels.size());
  return fmt::format("{} values ({} of them here)", *all > 0 ? fmt::format("{}", *all) : "many",
                     column.labels.size());
}

// The range of a numeric axis, or the labels of another.
std::string axis_text(const LabelColumn& column, std::optional<std::size_t> all) {
  if (column.numeric()) {
    std::vector<std::size_t> order = column.order;
    const bool some_have_none = column.labels[order.back()].empty();  // the empty label sorts last
    if (some_have_none) order.pop_back();
    return fmt::format("{}, {} to {}{}", values_text(column, all), column.labels[order.front()],
                       column.labels[order.back()], some_have_none ? ", and none" : "");
  }
  constexpr std::size_t kNames = 12;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < column.labels.size() && i < kNames; ++i)
    names.push_back(shown_label(column.labels[column.order[i]]));
  const std::size_t more = column.labels.size() - names.size();
  return fmt::format("{}: {}{}", values_text(column, all), join(names),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string objective_text(const ReportObjective& objective) {
  return (objective.maximize ? "maximize " : "minimize ") + objective.metric;
}

std::size_t count_if(const PointTable& table, bool (*holds)(const ReportPoint&)) {
  return static_cast<std::size_t>(std::ranges::count_if(table.points, holds));
}

// The counts of the table's own points where it has all of them.
WholePoints whole_of(const PointTable& table) {
  if (table.whole) return *table.whole;
  const auto count = [&](bool (*holds)(const ReportPoint&)) {
    return static_cast<std::int64_t>(count_if(table, holds));
  };
  return {.points = static_cast<std::int64_t>(table.points.size()),
          .with_results = count([](const ReportPoint& p) { return p.record != nullptr; }),
          .failed = count([](const ReportPoint& p) { return p.failed; }),
          .feasible = std::ranges::count(table.feasible, true)};
}

void add_summary(Page& page, const PointTable& table, const PointsView& view) {
  page.section("Summary");
  const WholePoints whole = whole_of(table);
  std::vector<std::pair<std::string, std::string>> facts{
      {"points", fmt::format("{}", whole.points)},
      {"with results", fmt::format("{}", whole.with_results)}};
  if (const std::int64_t rest = whole.points - whole.with_results; rest > 0)
    facts.emplace_back("without", fmt::format("{} that do not fit the hardware, {} that failed",
                                              rest - std::min(rest, whole.failed), whole.failed));
  if (table.whole)
    facts.emplace_back("of which this page has",
                       fmt::format("{}: {}", table.points.size(), whole.chosen_by));
  for (std::size_t c = 0; c < view.columns.size(); ++c) {
    const LabelColumn& column = view.columns[c];
    if (column.labels.size() == 1)
      facts.emplace_back(column.name + ", of all points", shown_label(column.labels.front()));
    else
      facts.emplace_back(
          "axis " + column.name,
          axis_text(column, table.whole ? std::optional(whole.labels.at(c)) : std::nullopt));
  }
  for (const std::string& constraint : table.constraints)
    facts.emplace_back("subject to", constraint);
  if (!table.feasible.empty())
    facts.emplace_back("within the constraints", fmt::format("{}", whole.feasible));
  if (!view.objectives.empty()) {
    std::string text;
    for (const ReportObjective& objective : view.objectives)
      text += (text.empty() ? "" : ", ") + objective_text(objective);
    facts.emplace_back(view.chosen_objectives ? "objectives (chosen here)" : "objectives", text);
    facts.emplace_back("on their front", fmt::format("{}", view.front.size()));
  }
  constexpr std::size_t kLine = 80;  // a longer list of files is under Provenance only
  if (!table.source.empty() && table.source.size() <= kLine)
    facts.emplace_back("made of", table.source);
  page.facts(facts);
  page.text(
      "Every number says what it rests on, by its weakest part: measured, fitted (to "
      "measurements), "
      "specification (a data sheet, or counted from published dimensions) or assumed. Numbers in "
      "square brackets are the ends of a 95 % interval.");
}

void add_charts(Page& page, const PointTable& table, const PointsView& view) {
  page.section("Charts");
  page.markup(
      {"<div class=\"scripted\" hidden>\n<div id=\"explorer-filters\"></div>\n"
       "<div id=\"explorer-charts\"></div>\n</div>\n"});
  page.markup({"<div class=\"drawn\">\n"});
  const auto curves = curves_figure(table, view);
  const auto front = front_figure(table, view);
  if (curves) page.figure(*curves);
  if (front) page.figure(*front);
  if (!curves && !front)
    page.text(
        "No numeric axis varies and no two objectives are there, so there is nothing to draw.");
  page.markup({"</div>\n"});
  // Below the drawings, since it is taller than a screen.
  page.markup(
      {"<div class=\"scripted\" hidden>\n<section id=\"picked\" aria-label=\"Picked "
       "point\"><p>A click on a point in a chart, or its button in the table, shows its "
       "settings, its results and the command that runs it again.</p></section>\n</div>\n"});
}

Table table_of(const std::string& title, const PointTable& table, const PointsView& view,
               const std::vector<std::size_t>& points) {
  Table out{.title = title, .columns = {{"point", Align::left}}};
  for (const LabelColumn& column : view.columns)
    if (column.varies())
      out.columns.push_back({column.name, column.numeric() ? Align::right : Align::left});
  for (const std::size_t m : view.shown)
    out.columns.push_back(
        {fmt::format("{} ({})", view.metrics[m].name, name(view.metrics[m].weakest))});
  out.columns.push_back({"run id", Align::left});
  for (const std::size_t p : points) {
    std::vector<std::string> row{fmt::format("{}", table.points[p].position)};
    for (const LabelColumn& column : view.columns)
      if (column.varies()) row.push_back(column.labels[column.at[p]]);
    for (const std::size_t m : view.shown) row.push_back(cell(view.metrics[m], p));
    row.push_back(table.points[p].run_id.substr(0, 12));
    out.add(std::move(row));
  }
  return out;
}

void add_points(Page& page, const PointTable& table, const PointsView& view, std::size_t rows_max) {
  page.section("Points");
  page.markup(
      {"<div class=\"scripted\" id=\"explorer-table\" hidden></div>\n<div class=\"replaced\">\n"});
  std::vector<std::size_t> first;
  for (std::size_t p = 0; p < table.points.size() && first.size() < rows_max; ++p)
    first.push_back(p);
  const std::string title =
      first.size() < table.points.size()
          ? fmt::format("The first {} of {} points{}", first.size(), table.points.size(),
                        table.whole ? " of this page" : "")
      : table.whole ? "The points of this page"
                    : "All points";
  page.table(table_of(title, table, view, first));
  if (first.size() < table.points.size())
    page.text("All are in the data of this page, which scripts show.");
  page.markup({"</div>\n"});
}

void add_front(Page& page, const PointTable& table, const PointsView& view) {
  if (view.front.empty()) return;
  page.section("Front");
  page.text(fmt::format(
      "On the front is a point that no other{} beats: none is at least as good in every objective "
      "and better in one. It says nothing of what lies between its points.",
      table.feasible.empty() ? "" : " within the constraints"));
  std::vector<std::size_t> front = view.front;
  if (front.size() > kFrontMax) front.resize(kFrontMax);
  page.table(table_of(
      front.size() < view.front.size()
          ? fmt::format("The first {} of {} points on the front", front.size(), view.front.size())
          : fmt::format("The front: {} points", front.size()),
      table, view, front));
}

// How many values have an interval. Bytes and FLOPs are counted from dimensions that are exact.
std::string intervals_text(const MetricColumn& metric) {
  const auto values =
      std::ranges::count_if(metric.values, [](double value) { return !std::isnan(value); });
  const auto with =
      std::ranges::count_if(metric.low, [](double value) { return !std::isnan(value); });
  if (with == values) return "all";
  return with == 0 ? "none: no number behind it has one" : fmt::format("{} of {}", with, values);
}

void add_metrics(Page& page, const PointsView& view) {
  page.section("Metrics");
  Table out{.title = "What the numbers are",
            .columns = {{"metric", Align::left},
                        {"least"},
                        {"most"},
                        {"class", Align::left},
                        {"95 % interval", Align::left},
                        {"meaning", Align::left}}};
  for (const MetricColumn& metric : view.metrics) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const double value : metric.values) {
      if (std::isnan(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    out.add({metric.name, display(least, metric.unit), display(most, metric.unit),
             std::string(name(metric.weakest)), intervals_text(metric), metric.meaning});
  }
  page.table(out);
}

void add_problems(Page& page, const PointTable& table, const PointsView& view) {
  Table out{.title = table.whole ? "Points without results: the first, and others of this page"
                                 : "Points without results",
            .columns = {{"point", Align::left}}};
  for (const LabelColumn& column : view.columns)
    if (column.varies()) out.columns.push_back({column.name, Align::left});
  out.columns.push_back({"kind", Align::left});
  out.columns.push_back({"why", Align::left});
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    const ReportPoint& point = table.points[p];
    if (point.problem.empty()) continue;
    std::vector<std::string> row{fmt::format("{}", point.position)};
    for (const LabelColumn& column : view.columns)
      if (column.varies()) row.push_back(column.labels[column.at[p]]);
    row.emplace_back(point.failed ? "failed" : "does not fit");
    row.push_back(point.problem);
    out.add(std::move(row));
  }
  if (out.rows.empty()) return;
  page.section("Points without results");
  const std::size_t kind = out.columns.size() - 2;
  page.table(out, {.shown_max = kProblemsMax, .mark = [&](std::size_t r, std::size_t c) {
                     if (c != kind) return std::string_view();
                     return std::string_view(out.rows[r][c].shown() == "failed" ? "bad" : "warn");
                   }});
}

void add_commands(Page& page, const PointTable& table, const PointsView& view) {
  page.section("Run again");
  std::vector<std::size_t> points = view.front;
  if (points.empty())
    for (std::size_t p = 0; p < table.points.size() && p < kFrontMax; ++p) points.push_back(p);
  if (points.size() > kFrontMax) points.resize(kFrontMax);
  page.text(fmt::format(
      "The same version and files give the same run id and the same bytes of results.{}",
      points.size() < table.points.size()
          ? view.front.empty() ? " Of the first points:" : " Of those on the front:"
          : ""));
  Table out{.title = "Commands",
            .columns = {{"point", Align::left}, {"command", Align::left}, {"run id", Align::left}}};
  for (const std::size_t p : points)
    out.add({fmt::format("{}", table.points[p].position), table.points[p].rerun,
             table.points[p].run_id});
  page.begin_details(fmt::format("{} commands", points.size()), points.size() <= 12);
  page.table(out, {.sortable = false});
  page.end_details();
}

// Distinct numbers with a source, each with the points that use it.
void add_numbers(Page& page, const PointTable& table) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, std::size_t> numbers;
  std::size_t records = 0;
  for (const ReportPoint& point : table.points) {
    if (!point.record || point.record->numbers.empty()) continue;
    ++records;
    for (const NumberRecord& number : point.record->numbers)
      ++numbers[{number.path, number.value, std::string(name(number.number_class)),
                 number.ci95 ? number.ci95->low + " to " + number.ci95->high : "", number.source}];
  }
  if (numbers.empty()) {
    page.text(
        "The numbers of devices and their sources are not in this source (a store keeps results): "
        "`tiersim run ... --json` of a command above lists them.");
    return;
  }
  Table out{.title = "Numbers of devices and models",
            .columns = {{"path", Align::left},
                        {"value"},
                        {"class", Align::left},
                        {"95 % interval", Align::left},
                        {"points"},
                        {"source", Align::left}}};
  for (const auto& [key, points] : numbers) {
    const auto& [path, value, number_class, interval, source] = key;
    out.add({path, value, number_class, interval,
             points == records ? "all" : fmt::format("{}", points), source});
  }
  page.begin_details(fmt::format("{} numbers with their sources", numbers.size()));
  page.table(out, {.shown_max = kNumbersMax, .mark = [&](std::size_t r, std::size_t c) {
                     const bool assumed = c == 2 && out.rows[r][c].shown() == "assumed";
                     return std::string_view(assumed ? "warn" : "");
                   }});
  page.end_details();
}

void add_provenance(Page& page, const PointTable& table, const PointsView& view,
                    const std::string& version) {
  page.section("Provenance");
  std::set<std::string> versions;
  std::set<std::string> ids;
  for (const ReportPoint& point : table.points) {
    if (point.record && !point.record->tiersim_version.empty())
      versions.insert(point.record->tiersim_version);
    if (!point.run_id.empty()) ids.insert(point.run_id);
  }
  std::string simulated_by;
  for (const std::string& one : versions) simulated_by += (simulated_by.empty() ? "" : ", ") + one;
  NumberClass weakest_class = NumberClass::measured;
  std::array<std::size_t, kNumberClassNames.size()> counts{};
  for (const MetricColumn& metric : view.metrics) {
    weakest_class = weakest(weakest_class, metric.weakest);
    ++counts[static_cast<std::size_t>(metric.weakest)];
  }
  std::string classes;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0)
      classes +=
          fmt::format("{}{} {}", classes.empty() ? "" : ", ", counts[c], kNumberClassNames[c]);
  std::vector<std::pair<std::string, std::string>> facts{{"page made by", "tiersim " + version}};
  if (!simulated_by.empty()) facts.emplace_back("simulated by", "tiersim " + simulated_by);
  facts.emplace_back(table.whole ? "different run ids on this page" : "different run ids",
                     fmt::format("{}", ids.size()));
  if (!view.metrics.empty()) {
    facts.emplace_back("metrics by class", classes);
    facts.emplace_back("weakest class", std::string(name(weakest_class)));
  }
  if (!table.source.empty()) facts.emplace_back("source", table.source);
  page.facts(facts);
  add_numbers(page, table);
}

}  // namespace

std::string points_page(const PointTable& table, const PointsPage& options) {
  TS_EXPECTS(!table.points.empty(), table.source);
  const PointsView view = view_of(table, options.choice);
  Page page(table.title.empty() ? "tiersim: points" : table.title,
            fmt::format("{} points simulated by tiersim", whole_of(table).points));
  add_best(page, table, view);
  add_break_even(page, table, view);
  add_summary(page, table, view);
  add_charts(page, table, view);
  add_points(page, table, view, options.rows_max);
  add_front(page, table, view);
  add_metrics(page, view);
  add_problems(page, table, view);
  add_commands(page, table, view);
  add_provenance(page, table, view, options.version);
  page.footer("tiersim " + options.version + ". This page needs no network.");
  page.data("points-data", points_json(table, view));
  page.style(embedded_explorer_css());
  if (!options.vega.empty()) page.script(options.vega);
  page.script(embedded_explorer_js());
  page.script(embedded_charts_js());
  return page.html();
}

}  // namespace tiersim
