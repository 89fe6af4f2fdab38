#include "reports/html/points_charts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "reports/points/point_values.hpp"
#include "reports/render/axis.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostSeries = 7;  // distinguishable colours
constexpr std::size_t kMostPanels = 6;
constexpr std::size_t kMostMarks = 3000;  // points of a static drawing

// Axes for lines and panels, those with the fewest labels first.
std::vector<std::size_t> other_axes(const PointsView& view, std::size_t x) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < view.columns.size(); ++c)
    if (c != x && view.columns[c].varies()) out.push_back(c);
  std::ranges::stable_sort(out, {}, [&](std::size_t c) { return view.columns[c].labels.size(); });
  return out;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Positions of points on the three axes of a chart; an unused axis has one position.
struct Places {
  const LabelColumn* column = nullptr;
  std::size_t count() const { return column == nullptr ? 1 : column->labels.size(); }
  std::size_t at(std::size_t point) const { return column == nullptr ? 0 : column->at[point]; }
  std::size_t in_order(std::size_t i) const { return column == nullptr ? 0 : column->order[i]; }
  std::string label(std::size_t i) const {
    return column == nullptr ? "" : shown_label(column->labels[i]);
  }
};

// Medians along the axis. Points of a sample or search stay single, since a line would join points
// that differ in more than the axis.
FigureSeries series_of(const LabelColumn& axis,
                       const std::map<std::size_t, std::vector<double>>& values, bool chosen) {
  FigureSeries out{.mark = chosen ? SeriesMark::points : SeriesMark::line, .points = {}};
  for (const std::size_t at : axis.order) {
    const auto found = values.find(at);
    if (found == values.end() || std::isnan(axis.numbers[at])) continue;
    const std::vector<double> shown =
        chosen ? found->second : std::vector<double>{median(found->second)};
    for (const double y : shown) out.points.push_back({.x = axis.numbers[at], .y = y});
  }
  return out;
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
  return axis.labels.size() > 2 && range.low > 0 && range.high / range.low >= 16;
}

}  // namespace

std::optional<PageFigure> curves_figure(const PointTable& table, const PointsView& view) {
  const auto x = view.main_axis();
  if (!x || view.metrics.empty()) return std::nullopt;
  std::size_t m = view.shown.front();
  const MetricColumn& metric = view.metrics[m];
  const LabelColumn& axis = view.columns[*x];
  const auto others = other_axes(view, *x);
  Places lines;
  Places panels;
  std::size_t used = 0;
  if (used < others.size() && view.columns[others[used]].labels.size() <= kMostSeries)
    lines.column = &view.columns[others[used++]];
  if (used < others.size() && view.columns[others[used]].labels.size() <= kMostPanels)
    panels.column = &view.columns[others[used++]];

  double largest = 0;
  for (const double value : metric.values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  const ShownUnit unit = shown_unit(metric.unit, largest);
  std::map<std::size_t, std::map<std::size_t, std::map<std::size_t, std::vector<double>>>> values;
  for (std::size_t p = 0; p < metric.values.size(); ++p)
    if (std::isfinite(metric.values[p]))
      values[panels.at(p)][lines.at(p)][axis.at[p]].push_back(metric.values[p] * unit.factor);

  Figure figure{.title = metric.name, .columns = 2, .common_y = true, .panels = {}};
  const FigureAxis across{
      .label = axis.unit.empty() ? axis.name : fmt::format("{} ({})", axis.name, axis.unit),
      .log_base = spread(axis) ? 2 : 0};
  const FigureAxis up{
      .label = fmt::format("{}, {}", axis_label(metric.name, unit), name(metric.weakest))};
  for (std::size_t i = 0; i < panels.count(); ++i) {
    const std::size_t panel = panels.in_order(i);
    FigurePanel& out = figure.panels.emplace_back(FigurePanel{.x = across, .y = up});
    if (panels.column != nullptr) out.title = panels.column->name + " " + panels.label(panel);
    for (std::size_t k = 0; k < lines.count(); ++k) {
      const std::size_t line = lines.in_order(k);
      FigureSeries series = series_of(axis, values[panel][line], table.chosen);
      series.name =
          lines.column != nullptr ? lines.column->name + " " + lines.label(line) : metric.name;
      if (!series.points.empty()) out.series.push_back(std::move(series));
    }
  }
  std::string caption = fmt::format("{} over {}: {}. Class of the weakest number behind it: {}.",
                                    metric.name, axis.name, metric.meaning, name(metric.weakest));
  std::vector<std::string> hidden;
  for (std::size_t i = used; i < others.size(); ++i) hidden.push_back(view.columns[others[i]].name);
  if (!hidden.empty())
    caption +=
        table.chosen
            ? fmt::format(
                  " Each mark is a point of a sample or search: they differ in what is not shown "
                  "({}) as well, so that no line joins them.",
                  join(hidden))
            : fmt::format(" Of points that differ in what is not shown ({}) the median.",
                          join(hidden));
  if (table.whole) caption += fmt::format(" Of the {} points of this page.", table.points.size());
  number_styles(figure);
  return PageFigure{.svg = to_svg(figure), .caption = caption};
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
