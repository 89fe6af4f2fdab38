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

std::optional<Interval<double>> scaled(const std::optional<Interval<double>>& ci95, double factor) {
  if (!ci95) return std::nullopt;
  return Interval<double>{ci95->low * factor, ci95->high * factor};
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

ScatterChart scatter_of(const ParetoReport& report, std::size_t x, std::size_t y,
                        std::optional<std::size_t> by) {
  const PointTable& table = *report.table;
  const ParetoObjective& over = report.objectives.at(x);
  const ParetoObjective& of = report.objectives.at(y);
  const ShownUnit x_unit = shown_unit(over.unit, largest_of(over));
  const ShownUnit y_unit = shown_unit(of.unit, largest_of(of));
  const auto better = [](const ParetoObjective& o) {
    return o.sense == Sense::maximize ? "more is better" : "less is better";
  };
  ScatterChart chart{.title = table.title.empty() ? "Pareto front" : table.title,
                     .x_label = fmt::format("{}, {}", axis_label(over.name, x_unit), better(over)),
                     .y_label = fmt::format("{}, {}", axis_label(of.name, y_unit), better(of)),
                     .x_better = over.sense,
                     .y_better = of.sense,
                     .step_line = report.objectives.size() == 2,
                     .groups = by ? different_labels(table, *by, table.points.size())
                                  : std::vector<std::string>{""},
                     .points = {}};
  const std::vector<std::size_t> labelled = labelled_columns(table);
  chart.subtitle = fmt::format(
      "full: {} of {} points, which nothing beats{}; ringed: the knee{}", report.front.size(),
      report.front.size() + report.dominated.size(),
      chart.step_line ? "" : fmt::format(" in all {} objectives", report.objectives.size()),
      labelled.empty() ? "" : "; labels: " + names_of(table, labelled));
  std::map<std::string, std::size_t> groups;
  for (std::size_t g = 0; g < chart.groups.size(); ++g) groups[chart.groups[g]] = g;
  const auto add = [&](std::size_t i, bool front) {
    const std::size_t group = by ? groups.at(table.points[i].labels[*by]) : 0;
    if (front && report.knee == i) chart.knee = chart.points.size();
    chart.points.push_back({.x = over.values[i]->value * x_unit.factor,
                            .y = of.values[i]->value * y_unit.factor,
                            .group = group,
                            .front = front,
                            .label = front ? direct_label(table.points[i], labelled) : "",
                            .x_ci95 = scaled(over.values[i]->ci95, x_unit.factor),
                            .y_ci95 = scaled(of.values[i]->ci95, y_unit.factor)});
  };
  for (const std::size_t i : report.dominated) add(i, false);
  for (const std::size_t i : report.front) add(i, true);
  return chart;
}

}  // namespace tiersim
