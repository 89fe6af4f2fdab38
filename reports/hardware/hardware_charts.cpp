#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "reports/hardware/hardware_text.hpp"
#include "reports/hardware/point_label.hpp"

namespace tiersim {
namespace {

FigurePanel panel_of(const CurveReading& curve) {
  const CurveFacts& facts = curve.facts;
  const std::string unit(unit_of(facts.quantity));
  const std::string quantity(kProbeQuantityNames[static_cast<std::size_t>(facts.quantity)]);
  const bool log_x = facts.axis == ProbeAxis::run || facts.axis == ProbeAxis::size ||
                     facts.axis == ProbeAxis::items || facts.axis == ProbeAxis::ranks;
  const bool log_y =
      facts.quantity == ProbeQuantity::latency || facts.quantity == ProbeQuantity::time;
  FigurePanel panel{.title = facts.id,
                    .x = {.label = axis_label(facts.axis), .log_base = log_x ? 2 : 0},
                    .y = {.label = unit.empty() ? quantity : fmt::format("{}, {}", quantity, unit),
                          .log_base = log_y ? 10 : 0}};
  FigureSeries reference{.name = "reference", .points = {}};
  for (const PointReading& point : curve.points)
    reference.points.push_back({.x = point.point.x(facts.axis), .y = point.point.value});
  panel.series.push_back(reference);
  for (const Fidelity level : kFidelities) {
    const auto i = static_cast<std::size_t>(level);
    FigureSeries series{.name = std::string(kFidelityNames[i]), .points = reference.points};
    for (std::size_t p = 0; p < curve.points.size(); ++p)
      series.points[p].y = curve.points[p].readings[i].value.value_or(kNoValue);
    if (std::ranges::any_of(series.points, [](const auto& p) { return std::isfinite(p.y); }))
      panel.series.push_back(std::move(series));
  }
  return panel;
}

}  // namespace

std::vector<Figure> charts_of(const std::vector<CurveReading>& curves) {
  constexpr std::size_t kPanelsMost = 6;  // readable side by side
  std::vector<Figure> charts;
  std::map<std::string, std::size_t> of_title;  // curves of one quantity over one axis so far
  for (const CurveReading& curve : curves) {
    if (curve.facts.axis == ProbeAxis::none || curve.points.size() < 2) continue;
    std::string title =
        fmt::format("{}: {} by {}", curve.facts.group,
                    kProbeQuantityNames[static_cast<std::size_t>(curve.facts.quantity)],
                    axis_label(curve.facts.axis));
    const std::size_t page = of_title[title]++ / kPanelsMost + 1;
    if (page > 1) title += fmt::format(", part {}", page);
    auto chart = std::ranges::find(charts, title, &Figure::title);
    if (chart == charts.end())
      chart = charts.insert(chart, Figure{.title = title, .columns = 3, .panels = {}});
    chart->panels.push_back(panel_of(curve));
  }
  for (Figure& chart : charts) number_styles(chart);
  return charts;
}

}  // namespace tiersim
