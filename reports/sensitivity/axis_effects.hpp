#pragma once
// The effect of each axis of a sweep on a metric while the other axes are held, from the points of
// the sweep.
#include <string>
#include <vector>

#include "reports/points/missing_points.hpp"
#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

struct AxisEffect {
  std::string axis = {};
  std::size_t labels = 0;  ///< distinct labels
  /// Sets of two or more points with a value that differ in this axis only
  std::size_t groups = 0;
  double mean = 0;  ///< of the range (largest less smallest value), over the groups
  double most = 0;  ///< the largest range
  double mean_ratio =
      1;  ///< geometric mean of largest over smallest, over the groups with both above 0
  double most_ratio = 1;
  std::vector<std::string> where =
      {};  ///< labels of the group with the largest range, without this axis
};

struct AxisEffects {
  std::string metric = {};
  std::string unit = {};
  std::string of_class = {};
  std::vector<AxisEffect> axes = {};  ///< largest mean first; axes without a group are left out
  /// Axes in which no two points differ while all others are equal
  std::vector<std::string> alone = {};
  std::size_t points = 0;  ///< points with a value
  MissingPoints without = {};
};

AxisEffects effects_of(const PointTable& table, const std::string& metric);
Table table_of(const AxisEffects& effects);
std::string to_json(const AxisEffects& effects);
/// Bars of the mean range, with a line to the largest range.
std::string to_svg(const AxisEffects& effects);

}  // namespace tiersim
