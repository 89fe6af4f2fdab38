#include "reports/html/points_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "reports/points/point_values.hpp"
#include "sim/record/metrics.hpp"

namespace tiersim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void read_numbers(LabelColumn& column) {
  std::vector<double> numbers;
  std::optional<std::string> unit;
  double largest = 0;
  for (const std::string& label : column.labels) {
    const auto number = label.empty() ? LabelNumber{kNone} : number_of_label(label);
    if (!number || (!label.empty() && unit && *unit != number->unit)) return;
    if (!label.empty()) {
      unit = number->unit;
      largest = std::max(largest, std::fabs(number->value));
    }
    numbers.push_back(number->value);
  }
  if (!unit) return;
  const ShownUnit shown = shown_unit(*unit, largest);
  for (double& number : numbers) number *= shown.factor;
  column.numbers = std::move(numbers);
  column.unit = shown.name;
}

LabelColumn label_column(const PointTable& table, std::size_t c) {
  LabelColumn out{.name = table.columns[c].name, .key = table.columns[c].key};
  std::map<std::string, std::size_t> known;
  for (const ReportPoint& point : table.points) {
    const std::string label = c < point.labels.size() ? point.labels[c] : "";
    const auto [found, is_new] = known.emplace(label, out.labels.size());
    if (is_new) out.labels.push_back(label);
    out.at.push_back(found->second);
  }
  if (table.columns[c].numeric) read_numbers(out);
  for (std::size_t i = 0; i < out.labels.size(); ++i) out.order.push_back(i);
  if (out.numeric())
    std::ranges::stable_sort(out.order, [&](std::size_t a, std::size_t b) {
      return out.numbers[a] < out.numbers[b] ||
             (!std::isnan(out.numbers[a]) && std::isnan(out.numbers[b]));
    });
  return out;
}

// Position of a name in the list of metrics; unknown names come last.
std::size_t rank_of(const std::string& name) {
  for (std::size_t i = 0; i < kMetrics.size(); ++i)
    if (defines(kMetrics[i], name)) return i;
  return kMetrics.size();
}

std::vector<MetricColumn> metric_columns(const PointTable& table) {
  const std::size_t n = table.points.size();
  std::map<std::string, MetricColumn> columns;
  for (std::size_t p = 0; p < n; ++p) {
    if (!table.points[p].record) continue;
    for (const auto& [name, metric] : table.points[p].record->metrics) {
      MetricColumn& column = columns[name];
      if (column.values.empty()) {
        const MetricDefinition* definition = find_metric(name);
        column.name = name;
        column.unit = metric.unit;
        column.meaning = definition ? std::string(definition->meaning) : "";
        column.values.assign(n, kNone);
      }
      column.values[p] = metric.value;
      column.weakest = weakest(column.weakest, metric.number_class);
      if (!metric.ci95) continue;
      if (column.low.empty()) {
        column.low.assign(n, kNone);
        column.high.assign(n, kNone);
      }
      column.low[p] = metric.ci95->low;
      column.high[p] = metric.ci95->high;
    }
  }
  std::vector<MetricColumn> out;
  for (auto& [name, column] : columns) {
    std::optional<double> first;
    for (const double value : column.values)
      if (!std::isnan(value)) {
        if (!first) first = value;
        if (value != *first) column.varies = true;
      }
    out.push_back(std::move(column));
  }
  std::ranges::stable_sort(out, {},
                           [](const MetricColumn& column) { return rank_of(column.name); });
  return out;
}

// Default objectives of a sweep that states none: the first pair of opposing metrics that all
// points have and that both vary.
std::vector<ReportObjective> default_objectives(const PointsView& view) {
  for (const auto& pair : usual_objectives()) {
    const auto usable = [&](const ReportObjective& objective) {
      const auto metric = view.metric(objective.metric);
      return metric && view.metrics[*metric].varies;
    };
    if (std::ranges::all_of(pair, usable)) return {pair.begin(), pair.end()};
  }
  return {};
}

void find_front(const PointTable& table, PointsView& view) {
  std::vector<ParetoObjective> objectives;
  for (const ReportObjective& objective : view.objectives) {
    const auto metric = view.metric(objective.metric);
    if (!metric) return;  // no point has the metric
    view.objective_metrics.push_back(*metric);
    objectives.push_back(objective_of(table, objective));
  }
  if (objectives.size() < 2) return;
  view.pareto = pareto_of(table, std::move(objectives));
  view.front = view.pareto->front;
}

void find_shown(PointsView& view) {
  constexpr std::size_t kMost = 8;
  view.shown = view.objective_metrics;
  for (const bool varies : {true, false})
    for (std::size_t m = 0; m < view.metrics.size() && view.shown.size() < kMost; ++m)
      if (view.metrics[m].varies == varies && std::ranges::find(view.shown, m) == view.shown.end())
        view.shown.push_back(m);
}

}  // namespace

std::optional<std::size_t> PointsView::metric(std::string_view name) const {
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].name == name) return i;
  return std::nullopt;
}

std::optional<std::size_t> PointsView::main_axis() const {
  if (choice.x && columns[*choice.x].numeric()) return choice.x;
  const auto rank = [&](std::size_t c) {
    return std::pair(!columns[c].derived(), columns[c].labels.size());
  };
  std::optional<std::size_t> out;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].numeric() && columns[c].varies() && (!out || rank(c) > rank(*out))) out = c;
  return out;
}

PointsView view_of(const PointTable& table, ChartChoice choice) {
  PointsView out{.choice = std::move(choice)};
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    out.columns.push_back(label_column(table, c));
  out.metrics = metric_columns(table);
  out.objectives = table.objectives;
  if (out.objectives.empty()) {
    out.objectives = default_objectives(out);
    out.chosen_objectives = true;
  }
  find_front(table, out);
  find_shown(out);
  return out;
}

}  // namespace tiersim
