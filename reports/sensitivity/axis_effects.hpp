#pragma once
// How far each axis of a sweep moves a metric while the others are held: from points that are
// there.
#include <string>
#include <vector>

#include "reports/points/missing_points.hpp"
#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

struct AxisEffect {
  std::string axis = {};
  std::size_t labels = 0;  ///< different ones
  std::size_t groups = 0;  ///< of points that differ in this axis only, with two values or more
  double mean = 0;         ///< of largest less smallest value, over the groups
  double most = 0;         ///< the largest of them
  double mean_ratio =
      1;  ///< largest over smallest: geometric mean over the groups with both above 0
  double most_ratio = 1;
  std::vector<std::string> where =
      {};  ///< labels of the group with the largest range, less the axis
};

struct AxisEffects {
  std::string metric = {};
  std::string unit = {};
  std::string of_class = {};
  std::vector<AxisEffect> axes = {};    ///< largest mean first; those without a group are left out
  std::vector<std::string> alone = {};  ///< axes that no two points differ in alone
  std::size_t points = 0;               ///< with a value
  MissingPoints without = {};
};

AxisEffects effects_of(const PointTable& table, const std::string& metric);
std::vector<Table> tables_of(const AxisEffects& effects, Digits digits);
std::string to_json(const AxisEffects& effects);
/// Bars of the mean range, with a line to the largest.
std::string to_svg(const AxisEffects& effects);

}  // namespace tiersim
