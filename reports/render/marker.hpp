#pragma once
// Markers of the points of the i-th series: enough shapes and colours for a long legend.
#include <cstddef>

#include "reports/render/svg_canvas.hpp"

namespace tiersim {

enum class MarkerFill {
  own,  ///< full for the first five shapes, hollow for the next
  full,
  hollow,  ///< white inside
};

/// Circle, square, triangle, diamond or inverted triangle in palette(look), 3.6 px around `at`.
void draw_marker(SvgCanvas& canvas, std::size_t look, SvgPoint at,
                 MarkerFill fill = MarkerFill::own);

}  // namespace tiersim
