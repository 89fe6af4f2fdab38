#pragma once
// Static drawings of points, without scripts.
#include <optional>

#include "reports/html/page.hpp"
#include "reports/html/points_view.hpp"

namespace tiersim {

/// The first objective, or the first metric that varies, over the main axis. The axis with the
/// fewest labels gives the lines, the next one the panels. Several points can share a place because
/// they differ in other axes: the line then has their median. Points of a sample or search are
/// markers without a line. None where no axis is numeric.
std::optional<PageFigure> curves_figure(const PointTable& table, const PointsView& view);

/// The first two objectives with the Pareto front over all objectives. None where there are fewer
/// than two.
std::optional<PageFigure> front_figure(const PointTable& table, const PointsView& view);

}  // namespace tiersim
