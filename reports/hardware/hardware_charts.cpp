#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace

std::vector<LineChart> charts_of(const std::vector<CurveReading>& curves) {
  std::vector<LineChart> charts;
  // Curves of one quantity over one axis stand side by side.
  for (const CurveReading& curve : curves) {
    if (curve.facts.axis == ProbeAxis::none || curve.points.size() < 2) continue;
    const std::string unit(unit_of(curve.facts.quantity));
    const std::string quantity(kProbeQuantityNames[static_cast<std::size_t>(curve.facts.quantity)]);
    const std::string y_label = unit.empty() ? quantity : fmt::format("{}, {}", quantity, unit);
    const std::string title =
        fmt::format("{}: {} by {}", curve.facts.group, quantity, axis_label(curve.facts.axis));
    if (charts.empty() || charts.back().title != title)
      charts.push_back(
          {.title = title,
           .x_label = axis_label(curve.facts.axis),
           .y_label = y_label,
           .panels = {},
           .log_x = curve.facts.axis == ProbeAxis::run || curve.facts.axis == ProbeAxis::size,
           .log_y = curve.facts.quantity == ProbeQuantity::latency ||
                    curve.facts.quantity == ProbeQuantity::time});
    charts.back().panels.push_back(panel_of(curve));
  }
  return charts;
}

}  // namespace tiersim
