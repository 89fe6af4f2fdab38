#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reports/pareto/pareto_report.hpp"

namespace tiersim {
namespace {

// Distinct labels in the order of the points, `most` at most.
std::vector<std::string> different_labels(const PointTable& table, std::size_t column,
                                          std::size_t most) {
  std::vector<std::string> out;
  std::set<std::string> known;
  for (const ReportPoint& point : table.points) {
    if (known.insert(point.labels[column]).second) out.push_back(point.labels[column]);
    if (out.size() == most) break;
  }
  return out;
}

double largest_of(const ParetoObjective& objective) {
  double out = 0;
  for (const auto& value : objective.values)
    if (value && std::isfinite(value->value)) out = std::max(out, std::abs(value->value));
  return out;
}

// Columns in which points differ; they name a point.
std::vector<std::size_t> labelled_columns(const PointTable& table) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (different_labels(table, c, 2).size() > 1) out.push_back(c);
  return out;
}

std::string names_of(const PointTable& table, const std::vector<std::size_t>& columns) {
  std::string out;
  for (const std::size_t c : columns) out += (out.empty() ? "" : ", ") + table.columns[c].name;
  return out;
}

std::string direct_label(const ReportPoint& point, const std::vector<std::size_t>& columns) {
  std::string out;
  for (const std::size_t c : columns)
    if (!point.labels[c].empty()) out += (out.empty() ? "" : ", ") + point.labels[c];
  return out;
}

}  // namespace

std::optional<std::size_t> grouping_column(const PointTable& table) {
  for (const bool numeric : {false, true})
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::size_t count = different_labels(table, c, 21).size();
      if (table.columns[c].numeric == numeric && count >= 2 && count <= (numeric ? 7U : 20U))
        return c;
    }
  return std::nullopt;
}

Figure figure_of(const ParetoReport& report, std::size_t x, std::size_t y,
                 std::optional<std::size_t> by) {
  const PointTable& table = *report.table;
  const ParetoObjective& over = report.objectives.at(x);
  const ParetoObjective& of = report.objectives.at(y);
  const ShownUnit x_unit = shown_unit(over.unit, largest_of(over));
  const ShownUnit y_unit = shown_unit(of.unit, largest_of(of));
  const auto better = [](const ParetoObjective& o) {
    return o.sense == Sense::maximize ? "more is better" : "less is better";
  };
  Figure figure{.title = table.title.empty() ? "Pareto front" : table.title, .panels = {}};
  FigurePanel& panel = figure.panels.emplace_back();
  panel.x.label = fmt::format("{}, {}", axis_label(over.name, x_unit), better(over));
  panel.y.label = fmt::format("{}, {}", axis_label(of.name, y_unit), better(of));
  panel.front = {
      .x_better = over.sense, .y_better = of.sense, .joined = report.objectives.size() == 2};
  for (const std::string& group :
       by ? different_labels(table, *by, table.points.size()) : std::vector<std::string>{""})
    panel.series.push_back(
        {.name = group, .mark = SeriesMark::points, .style = panel.series.size(), .points = {}});
  const std::vector<std::size_t> labelled = labelled_columns(table);
  figure.subtitle = fmt::format(
      "full: {} of {} points, which nothing beats{}; ringed: the knee{}", report.front.size(),
      report.counts.compared,
      panel.front->joined ? "" : fmt::format(" in all {} objectives", report.objectives.size()),
      labelled.empty() ? "" : "; labels: " + names_of(table, labelled));
  if (report.counts.compared > report.front.size() + report.dominated.size())
    figure.subtitle += fmt::format("; hollow: {} of the others", report.dominated.size());
  std::map<std::string, std::size_t> groups;
  for (std::size_t g = 0; g < panel.series.size(); ++g) groups[panel.series[g].name] = g;
  std::size_t order = 0;
  const auto add = [&](std::size_t i, bool front) {
    const std::size_t group = by ? groups.at(table.points[i].labels[*by]) : 0;
    FigurePoint point{.x = over.values[i]->value * x_unit.factor,
                      .y = of.values[i]->value * y_unit.factor,
                      .label = front ? direct_label(table.points[i], labelled) : "",
                      .order = order++};
    if (front) point.emphasis = report.knee == i ? Emphasis::knee : Emphasis::front;
    point.set_interval(of.values[i]->ci95, y_unit.factor);
    point.set_x_interval(over.values[i]->ci95, x_unit.factor);
    panel.series[group].points.push_back(std::move(point));
  };
  for (const std::size_t i : report.dominated) add(i, false);
  for (const std::size_t i : report.front) add(i, true);
  return figure;
}

}  // namespace tiersim
