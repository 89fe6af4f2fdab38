#include "reports/html/points_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reports/points/point_values.hpp"
#include "reports/render/axis.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostSeries = 7;  // distinguishable colours
constexpr std::size_t kMostPanels = 6;
constexpr std::size_t kMostNamed = 24;    // panels of methods or other names
constexpr std::size_t kMostMarks = 3000;  // points of a static drawing

// Positions of points on an axis of a chart; an unused axis has one position.
struct Places {
  const LabelColumn* column = nullptr;
  std::size_t count() const { return column == nullptr ? 1 : column->labels.size(); }
  std::size_t at(std::size_t point) const { return column == nullptr ? 0 : column->at[point]; }
  std::size_t in_order(std::size_t i) const { return column == nullptr ? 0 : column->order[i]; }
  std::string label(std::size_t i) const {
    return column == nullptr ? "" : shown_label(column->labels[i]);
  }
};

// The columns of a chart beside its x axis.
struct ChartColumns {
  Places lines = {};
  Places panels = {};
  std::vector<const LabelColumn*> rest = {};  // what the chart does not show
};

using Columns = std::vector<const LabelColumn*>;

// The column of names that makes panels: the method, else the one with the fewest names.
Columns::iterator named_column(Columns& columns) {
  const auto fits = [](const LabelColumn* c) {
    return !c->numeric() && c->labels.size() <= kMostNamed;
  };
  const auto method = std::ranges::find_if(columns, [&](const LabelColumn* c) {
    return fits(c) && (c->name == "method" || c->key == "method.name");
  });
  return method != columns.end() ? method : std::ranges::find_if(columns, fits);
}

// The labels of a column, summed over the places on the x axis in each panel. A column that is the
// same all over a panel tells no lines apart.
std::size_t labels_at_places(const LabelColumn& column, const LabelColumn& axis,
                             const Places& panels) {
  std::set<std::array<std::size_t, 3>> known;
  for (std::size_t p = 0; p < column.at.size(); ++p)
    known.insert({panels.at(p), axis.at[p], column.at[p]});
  return known.size();
}

// The column with few labels that tells most lines apart.
Columns::iterator line_column(Columns& columns, const LabelColumn& axis, const Places& panels) {
  auto out = columns.end();
  std::size_t most = 0;
  for (auto it = columns.begin(); it != columns.end(); ++it) {
    if ((*it)->labels.size() > kMostSeries || (*it)->derived()) continue;
    if (const std::size_t count = labels_at_places(**it, axis, panels); count > most) {
      most = count;
      out = it;
    }
  }
  return out;
}

// Unless chosen: a single further column gives the lines, if it has few labels. Of several, names
// give the panels, and the column that then tells most lines apart gives the lines. Derived columns
// come last.
ChartColumns chart_columns(const PointsView& view, std::size_t x) {
  ChartColumns out;
  Columns& columns = out.rest;
  for (std::size_t c = 0; c < view.columns.size(); ++c)
    if (c != x && view.columns[c].varies()) columns.push_back(&view.columns[c]);
  std::ranges::stable_sort(
      columns, {}, [](const LabelColumn* c) { return std::pair(c->derived(), c->labels.size()); });
  const auto take = [&](Columns::iterator it, Places& places) {
    if (it == columns.end()) return;
    places.column = *it;
    columns.erase(it);
  };
  const auto choose = [&](std::optional<std::size_t> column, Places& places) {
    if (column) take(std::ranges::find(columns, &view.columns[*column]), places);
  };
  choose(view.choice.panel, out.panels);
  choose(view.choice.by, out.lines);
  const bool one = out.lines.column == nullptr && columns.size() == 1 &&
                   columns.front()->labels.size() <= kMostSeries;
  if (out.panels.column == nullptr && !one) take(named_column(columns), out.panels);
  if (out.lines.column == nullptr)
    take(line_column(columns, view.columns[x], out.panels), out.lines);
  if (out.panels.column == nullptr && !columns.empty() &&
      columns.front()->labels.size() <= kMostPanels && !columns.front()->derived())
    take(columns.begin(), out.panels);
  return out;
}

// True where points at one place have different labels in the column.
bool differ_at_a_place(const LabelColumn& column, const LabelColumn& axis,
                       const ChartColumns& chart, const std::vector<std::size_t>& points) {
  std::map<std::array<std::size_t, 3>, std::size_t> known;
  return std::ranges::any_of(points, [&](std::size_t p) {
    const std::array<std::size_t, 3> place{chart.panels.at(p), chart.lines.at(p), axis.at[p]};
    const auto [found, is_new] = known.emplace(place, column.at[p]);
    return !is_new && found->second != column.at[p];
  });
}

// Where points at one place differ in a column that the chart does not show, leaves those at one
// label of it: the label of most points, and of several such the middle one. Points without a label
// stay. Returns the names and labels.
std::vector<std::string> hold(const LabelColumn& axis, const ChartColumns& chart,
                              std::vector<std::size_t>& points) {
  std::vector<std::string> out;
  for (const LabelColumn* column : chart.rest) {
    if (!differ_at_a_place(*column, axis, chart, points)) continue;
    std::vector<std::size_t> counts(column->labels.size());
    for (const std::size_t p : points)
      if (!column->labels[column->at[p]].empty()) ++counts[column->at[p]];
    std::vector<std::size_t> best;
    for (const std::size_t label : column->order) {
      if (!best.empty() && counts[label] > counts[best.front()]) best.clear();
      if (best.empty() || counts[label] == counts[best.front()]) best.push_back(label);
    }
    const std::size_t held = best[best.size() / 2];
    std::erase_if(points, [&](std::size_t p) {
      return column->at[p] != held && !column->labels[column->at[p]].empty();
    });
    out.push_back(column->name + ' ' + shown_label(column->labels[held]));
  }
  return out;
}

// The series of one place in panels and lines. Points without a label that others are held at are
// in a series of their own, so that no line joins the two.
std::vector<FigureSeries> series_of(const LabelColumn& axis, const ChartColumns& chart,
                                    const std::vector<std::size_t>& points,
                                    const std::function<double(std::size_t)>& value, bool chosen) {
  std::map<std::vector<std::size_t>, FigureSeries> out;
  for (const std::size_t p : points) {
    const double x = axis.numbers[axis.at[p]];
    if (std::isnan(x)) continue;
    std::vector<std::size_t> apart;
    if (!chosen)
      for (const LabelColumn* column : chart.rest)
        apart.push_back(column->labels[column->at[p]].empty() ? 1U : 0U);
    out[std::move(apart)].points.push_back({.x = x, .y = value(p)});
  }
  std::vector<FigureSeries> series;
  for (auto& [apart, one] : out) {
    one.mark = chosen ? SeriesMark::points : SeriesMark::line;
    std::ranges::stable_sort(one.points, {}, &FigurePoint::x);
    series.push_back(std::move(one));
  }
  return series;
}

// Keeps all points of the front and one in n of the others, so that not too many are drawn. Returns
// n, which is 1 where all points are drawn.
std::size_t thinned(std::vector<FigureSeries>& groups) {
  std::size_t count = 0;
  for (const FigureSeries& group : groups) count += group.points.size();
  if (count <= kMostMarks) return 1;
  const std::size_t step = 1 + count / kMostMarks;
  for (FigureSeries& group : groups)
    std::erase_if(group.points, [&](const FigurePoint& point) {
      return point.emphasis == Emphasis::none && point.order % step != 0;
    });
  return step;
}

bool spread(const LabelColumn& axis) {
  AxisRange range;
  for (const double number : axis.numbers) range.add(number);
  return axis.labels.size() > 2 && is_wide(range);
}

std::string caption_of(const PointTable& table, const MetricColumn& metric, const LabelColumn& axis,
                       const ChartColumns& chart, const std::vector<std::string>& held) {
  std::string out = fmt::format("{} over {}: {}. Class of the weakest number behind it: {}.",
                                metric.name, axis.name, metric.meaning, name(metric.weakest));
  if (!held.empty()) {
    out += fmt::format(" Drawn are the points of {}; the tables have the others.", join(held));
  } else if (!chart.rest.empty()) {
    std::vector<std::string> hidden;
    for (const LabelColumn* column : chart.rest) hidden.push_back(column->name);
    out += fmt::format(
        " Each mark is a point of a sample or search: they differ in what is not shown ({}) as "
        "well, so that no line joins them.",
        join(hidden));
  }
  if (table.whole) out += fmt::format(" Of the {} points of this page.", table.points.size());
  return out;
}

}  // namespace

std::optional<PageFigure> curves_figure(const PointTable& table, const PointsView& view) {
  const auto x = view.main_axis();
  if (!x || view.metrics.empty()) return std::nullopt;
  const MetricColumn& metric =
      view.metrics[view.metric(view.choice.metric).value_or(view.shown.front())];
  const LabelColumn& axis = view.columns[*x];
  const ChartColumns chart = chart_columns(view, *x);
  double largest = 0;
  std::vector<std::size_t> points;
  for (std::size_t p = 0; p < metric.values.size(); ++p) {
    if (!std::isfinite(metric.values[p])) continue;
    points.push_back(p);
    largest = std::max(largest, std::fabs(metric.values[p]));
  }
  std::vector<std::string> held;
  if (!table.chosen && !points.empty()) held = hold(axis, chart, points);
  const ShownUnit unit = shown_unit(metric.unit, largest);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> places;
  for (const std::size_t p : points) places[{chart.panels.at(p), chart.lines.at(p)}].push_back(p);

  Figure figure{.title = metric.name,
                .columns = chart.panels.count() > 4 ? 3U : 2U,
                .common_x = true,
                .common_y = true,
                .panels = {}};
  const FigureAxis across{
      .label = axis.unit.empty() ? axis.name : fmt::format("{} ({})", axis.name, axis.unit),
      .log_base = spread(axis) ? 2 : 0};
  const FigureAxis up{
      .label = fmt::format("{}, {}", axis_label(metric.name, unit), name(metric.weakest))};
  for (std::size_t i = 0; i < chart.panels.count(); ++i) {
    const std::size_t panel = chart.panels.in_order(i);
    FigurePanel out{.x = across, .y = up};
    if (chart.panels.column != nullptr)
      out.title = chart.panels.column->name + " " + chart.panels.label(panel);
    for (std::size_t k = 0; k < chart.lines.count(); ++k) {
      const std::size_t line = chart.lines.in_order(k);
      const auto place = places.find({panel, line});
      if (place == places.end()) continue;
      for (FigureSeries& series : series_of(
               axis, chart, place->second,
               [&](std::size_t p) { return metric.values[p] * unit.factor; }, table.chosen)) {
        series.name = chart.lines.column != nullptr
                          ? chart.lines.column->name + " " + chart.lines.label(line)
                          : metric.name;
        out.series.push_back(std::move(series));
      }
    }
    for (const MetricLimit& limit : limits_of(table, metric.name))
      out.limits.push_back(
          {.y = limit.value * unit.factor, .label = limit_text(limit, metric.unit)});
    if (!out.series.empty()) figure.panels.push_back(std::move(out));
  }
  number_styles(figure);
  return PageFigure{.svg = to_svg(figure), .caption = caption_of(table, metric, axis, chart, held)};
}

std::optional<PageFigure> front_figure(const PointTable& table, const PointsView& view) {
  if (!view.pareto || view.front.empty()) return std::nullopt;
  Figure figure = figure_of(*view.pareto, 1, 0, grouping_column(table));
  std::string caption = fmt::format(
      "{} of the {} points that are compared are on the front of {} objectives{}.",
      view.front.size(),
      table.whole ? static_cast<std::size_t>(table.whole->compared)
                  : view.pareto->front.size() + view.pareto->dominated.size(),
      view.objectives.size(), view.chosen_objectives ? ", which were chosen for this page" : "");
  if (view.objectives.size() > 2)
    caption += " Drawn over the first two, where others may lie behind it.";
  if (const std::size_t step = thinned(figure.panels.front().series); step > 1)
    caption += fmt::format(" Of the others one in {} is drawn.", step);
  return PageFigure{.svg = to_svg(figure), .caption = caption};
}

}  // namespace tiersim
