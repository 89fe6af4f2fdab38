#pragma once
// Figures as SVG files that refer to no other file: lines and points, a Pareto front, or a map of
// categories. Figures with bars are drawn by gnuplot only.
#include <string>

#include "reports/render/figure.hpp"

namespace tiersim {

std::string to_svg(const Figure& figure);

// One function for each kind of figure. to_svg() calls the one for the kind of its figure.

/// Lines and points over a common x axis, in one panel or several small ones. A series has the same
/// colour, dash and marker in every panel, so that one legend serves all, also in black and white.
/// y starts at 0 where no value is negative, and holds all intervals. An axis of x to base 2 labels
/// multiples of 1024 as 1K, 1M. Panels without a finite value are empty.
std::string lines_svg(const Figure& figure);

/// Points over two values, in one panel, a series for each group; the front as a step line. Points
/// of the front are full, the others hollow; the front's have direct labels where there is room,
/// the knee first, which is ringed.
std::string front_svg(const Figure& figure);

/// Coloured cells with a letter in each, so that it reads in black and white too, in panels over
/// two further axes: titles of panels above the columns, row titles beside the rows.
std::string map_svg(const Figure& figure);

}  // namespace tiersim
