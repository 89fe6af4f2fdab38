#include "reports/render/marker.hpp"

#include <initializer_list>
#include <vector>

namespace tiersim {

void draw_marker(SvgCanvas& canvas, std::size_t look, SvgPoint at, MarkerFill style) {
  constexpr double kRadius = 3.6;
  const std::string_view colour = palette(look);
  const bool full = style == MarkerFill::full || (style == MarkerFill::own && look % 10 < 5);
  const std::string_view fill = full ? colour : "white";
  const Stroke edge{.colour = colour, .width = 1.2};
  const auto around = [&](std::initializer_list<SvgPoint> corners) {
    std::vector<SvgPoint> points;
    for (const SvgPoint& c : corners)
      points.push_back({at.x + kRadius * c.x, at.y + kRadius * c.y});
    canvas.polygon(points, fill, edge);
  };
  switch (look % 5) {
    case 0:
      return canvas.circle(at, kRadius, fill, edge);
    case 1:
      return around({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case 2:
      return around({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case 3:
      return around({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    default:
      return around({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
  }
}

}  // namespace tiersim
