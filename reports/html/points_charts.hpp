#pragma once
// Drawings of points that need no script.
#include <optional>

#include "reports/html/page.hpp"
#include "reports/html/points_view.hpp"

namespace tiersim {

/// The first objective (else the first metric that varies) over the main axis: lines by the axis
/// with the fewest labels besides it, panels by the next. Of a value that several points have,
/// which differ in what is neither, the line has the median; points of a sample or search are marks
/// without a line. None where no axis is numeric.
std::optional<PageFigure> curves_figure(const PointTable& table, const PointsView& view);

/// The first two objectives with the front of all of them. None where there are fewer.
std::optional<PageFigure> front_figure(const PointTable& table, const PointsView& view);

}  // namespace tiersim
