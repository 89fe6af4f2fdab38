#include "reports/published/published_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "reports/html/page.hpp"
#include "reports/published/published_text.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

struct MetricAxis {
  PublishedMetric metric;
  std::string_view title;
  std::string_view unit;
  double factor;  ///< from the unit of the score to that of the axis
};
constexpr std::array<MetricAxis, 4> kAxes{
    {{PublishedMetric::tpot, "time per output token", "ms", 1e3},
     {PublishedMetric::median_gap, "median gap between tokens", "ms", 1e3},
     {PublishedMetric::ttft, "time to the first token", "s", 1},
     {PublishedMetric::throughput, "throughput", "tokens/s", 1}}};

// Empty where no run has the metric.
FigurePanel panel_of(const MetricAxis& axis, const PublishedRuns& runs,
                     const std::vector<PublishedOutcome>& outcomes) {
  FigurePanel panel{.title = fmt::format("{}, {}", axis.title, axis.unit),
                    .x = {.label = "measured", .log_base = 10},
                    .y = {.label = "simulated", .log_base = 10}};
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const PublishedGroup& group : runs.groups) {
    if (!group.counted) continue;
    FigureSeries series{.name = group.id, .mark = SeriesMark::points};
    for (const PublishedOutcome& outcome : outcomes) {
      if (outcome.group != &group) continue;
      for (const PublishedCase& each : outcome.cases) {
        if (each.metric != axis.metric) continue;
        FigurePoint point{.x = each.reference * axis.factor, .y = each.predicted * axis.factor};
        point.set_interval(each.ci95, axis.factor);
        least = std::min({least, point.x, point.y});
        most = std::max({most, point.x, point.y});
        series.points.push_back(std::move(point));
      }
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  if (panel.series.empty()) return panel;
  FigureSeries equal{.role = SeriesRole::guide, .points = {}};
  constexpr int kSteps = 60;  // a straight line where only one of the axes is logarithmic, too
  for (int i = 0; i <= kSteps; ++i) {
    const double at = least * std::pow(most / least, static_cast<double>(i) / kSteps);
    equal.points.push_back({.x = at, .y = at});
  }
  panel.series.push_back(std::move(equal));
  return panel;
}

void add_group(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes,
               Page& page) {
  page.begin_details(fmt::format("{}: {} runs{}", group.id, group.runs.size(),
                                 group.counted ? "" : ", not among all runs"));
  page.table(cases_table(group, outcomes));
  if (group.wall) page.table(wall_table(group, outcomes));
  page.end_details();
}

}  // namespace

Figure published_figure(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes) {
  Figure figure{.stem = "serving_accuracy",
                .title = "Simulated over measured runs of servers",
                .width = kDoubleColumn,
                .panel_height = 2.6,
                .columns = 2};
  for (const MetricAxis& axis : kAxes)
    if (FigurePanel panel = panel_of(axis, runs, outcomes); !panel.series.empty())
      figure.panels.push_back(std::move(panel));
  number_styles(figure);
  return figure;
}

std::string published_page(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes,
                           std::string_view version) {
  Page page("Servers: simulated beside measured",
            "Every run is simulated from its configuration alone.");
  page.section("Errors");
  if (const Figure figure = published_figure(runs, outcomes); !figure.panels.empty())
    page.figure(
        {.svg = to_svg(figure),
         .caption = "A point is a run. On the line, simulated and measured values are equal."});
  page.table(errors_table(runs, outcomes));
  for (const Table& table : label_tables(outcomes)) page.table(table);
  page.section("Runs");
  for (const PublishedGroup& group : runs.groups) add_group(group, outcomes, page);
  page.footer(fmt::format("tiersim {}", version));
  return page.html();
}

}  // namespace tiersim
