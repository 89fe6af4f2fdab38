#pragma once
// Points over two values as SVG, with the front of the best ones as a step line: what lies on its
// worse side is dominated. Points of the front are full, the others hollow; the front's have direct
// labels where there is room. Groups differ in colour and shape.
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
  bool front = false;                           ///< full and labelled
  std::string label = {};                       ///< shown where it is on the front
  std::optional<Interval<double>> x_ci95 = {};  ///< drawn for points of the front
  std::optional<Interval<double>> y_ci95 = {};
};

struct ScatterChart {
  std::string title;
  std::string subtitle = {};  ///< broken into lines
  std::string x_label;        ///< with its unit
  std::string y_label;
  Sense x_better = Sense::minimize;  ///< the better ends, for the step line
  Sense y_better = Sense::minimize;
  bool step_line = true;            ///< join the points of the front
  std::vector<std::string> groups;  ///< names, for the legend; one without a name needs none
  std::vector<ScatterPoint> points;
  std::optional<std::size_t> knee = {};  ///< ringed and labelled first
};

std::string to_svg(const ScatterChart& chart);

}  // namespace tiersim
