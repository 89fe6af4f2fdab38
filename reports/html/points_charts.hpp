#pragma once
// Static drawings of points, without scripts.
#include <optional>

#include "reports/html/page.hpp"
#include "reports/html/points_view.hpp"

namespace tiersim {

/// The first objective, or the first metric that varies, over the main axis. A value is that of one
/// point and never a mean over several. The method, or another column of names, gives the panels
/// where there are several further columns, and the column with the fewest labels the lines. What
/// still differs is held at the label that most points have, and the caption says at which. Points
/// of a sample or search are markers without a line. None where no axis is numeric.
std::optional<PageFigure> curves_figure(const PointTable& table, const PointsView& view);

/// The first two objectives with the Pareto front over all objectives. None where there are fewer
/// than two.
std::optional<PageFigure> front_figure(const PointTable& table, const PointsView& view);

}  // namespace tiersim
