#pragma once
// What marks the points of the i-th series: shapes and colours that go on long enough for a legend.
#include <cstddef>

#include "reports/render/svg_canvas.hpp"

namespace tiersim {

enum class MarkerFill {
  own,  ///< full for the first five shapes, hollow for the next
  full,
  hollow,  ///< white inside
};

/// Circle, square, triangle, diamond, triangle on its tip, in palette(look), 3.6 px around `at`.
void draw_marker(SvgCanvas& canvas, std::size_t look, SvgPoint at,
                 MarkerFill fill = MarkerFill::own);

}  // namespace tiersim
