#pragma once
// Points over two values as SVG, with the Pareto front as a step line: points on its worse side are
// dominated. Points of the front are filled and labelled where there is room, the others are
// hollow. Groups differ in colour and shape.
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/pareto.hpp"

namespace tiersim {

struct ScatterPoint {
  double x = 0;  ///< finite
  double y = 0;
  std::size_t group = 0;                        ///< index of a group
  bool front = false;                           ///< filled and labelled
  std::string label = {};                       ///< shown for points of the front
  std::optional<Interval<double>> x_ci95 = {};  ///< drawn for points of the front
  std::optional<Interval<double>> y_ci95 = {};
};

struct ScatterChart {
  std::string title;
  std::string subtitle = {};  ///< broken into lines
  std::string x_label;        ///< with its unit
  std::string y_label;
  Sense x_better = Sense::minimize;  ///< the better direction of each axis, for the step line
  Sense y_better = Sense::minimize;
  bool step_line = true;            ///< join the points of the front
  std::vector<std::string> groups;  ///< names for the legend; an empty name is not in it
  std::vector<ScatterPoint> points;
  std::optional<std::size_t> knee = {};  ///< ringed and labelled first
};

std::string to_svg(const ScatterChart& chart);

}  // namespace tiersim
