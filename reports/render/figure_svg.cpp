#include "reports/render/figure_svg.hpp"

#include <algorithm>

namespace tiersim {

std::string to_svg(const Figure& figure) {
  if (!figure.categories.empty()) return map_svg(figure);
  const bool front = std::ranges::any_of(
      figure.panels, [](const FigurePanel& panel) { return panel.front.has_value(); });
  return front ? front_svg(figure) : lines_svg(figure);
}

}  // namespace tiersim
