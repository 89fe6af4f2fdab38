#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "reports/hardware/hardware_text.hpp"
#include "reports/hardware/point_label.hpp"

namespace tiersim {
namespace {

ChartPanel panel_of(const CurveReading& curve) {
  ChartPanel panel{.title = curve.facts.id, .series = {}};
  ChartSeries reference{.name = "reference", .x = {}, .y = {}};
  for (const PointReading& point : curve.points) {
    reference.x.push_back(point.point.x(curve.facts.axis));
    reference.y.push_back(point.point.value);
  }
  panel.series.push_back(reference);
  for (const Fidelity level : kFidelities) {
    const auto i = static_cast<std::size_t>(level);
    ChartSeries series{.name = std::string(kFidelityNames[i]), .x = reference.x, .y = {}};
    for (const PointReading& point : curve.points)
      series.y.push_back(
          point.readings[i].value.value_or(std::numeric_limits<double>::quiet_NaN()));
    if (std::ranges::any_of(series.y, [](double y) { return std::isfinite(y); }))
      panel.series.push_back(std::move(series));
  }
  return panel;
}

LineChart empty_chart(const CurveFacts& facts, std::string title) {
  const std::string unit(unit_of(facts.quantity));
  const std::string quantity(kProbeQuantityNames[static_cast<std::size_t>(facts.quantity)]);
  return {
      .title = std::move(title),
      .x_label = axis_label(facts.axis),
      .y_label = unit.empty() ? quantity : fmt::format("{}, {}", quantity, unit),
      .panels = {},
      .log_x = facts.axis == ProbeAxis::run || facts.axis == ProbeAxis::size,
      .log_y = facts.quantity == ProbeQuantity::latency || facts.quantity == ProbeQuantity::time};
}

}  // namespace

std::vector<LineChart> charts_of(const std::vector<CurveReading>& curves) {
  constexpr std::size_t kPanelsMost = 6;  // readable side by side
  std::vector<LineChart> charts;
  std::map<std::string, std::size_t> of_title;  // curves of one quantity over one axis so far
  for (const CurveReading& curve : curves) {
    if (curve.facts.axis == ProbeAxis::none || curve.points.size() < 2) continue;
    std::string title =
        fmt::format("{}: {} by {}", curve.facts.group,
                    kProbeQuantityNames[static_cast<std::size_t>(curve.facts.quantity)],
                    axis_label(curve.facts.axis));
    const std::size_t page = of_title[title]++ / kPanelsMost + 1;
    if (page > 1) title += fmt::format(", part {}", page);
    auto chart = std::ranges::find(charts, title, &LineChart::title);
    if (chart == charts.end()) chart = charts.insert(chart, empty_chart(curve.facts, title));
    chart->panels.push_back(panel_of(curve));
  }
  return charts;
}

}  // namespace tiersim
