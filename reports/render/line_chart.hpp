#pragma once
// Lines over a common x axis, in one panel or several small ones, as SVG. A series has the same
// colour, dash and marker in every panel, so that one legend serves all, also in black and white.
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"

namespace tiersim {

struct ChartSeries {
  std::string name;
  std::vector<double> x;  ///< positive where the axis is logarithmic; ascending where joined
  std::vector<double> y;  ///< as many as x; a value that is not finite interrupts the line
  /// 95 % intervals of y, drawn as whiskers; empty, or one for each value.
  std::vector<std::optional<Interval<double>>> ci95 = {};
  /// False: markers without a line, for values that do not follow from each other
  bool joined = true;
};

struct ChartPanel {
  std::string title;
  std::vector<ChartSeries> series;
};

struct LineChart {
  std::string title;
  std::string subtitle = {};  ///< broken into lines
  std::string x_label;        ///< with its unit
  std::string y_label;        ///< with its unit
  std::vector<ChartPanel> panels;
  std::size_t columns = 3;  ///< panels beside each other
  bool log_x = true;        ///< to base 2; multiples of 1024 are labelled 1K, 1M
  bool common_y = false;    ///< one scale for all panels, so that they can be compared
  bool log_y = false;       ///< for panels whose values are all positive
};

/// The y axis starts at 0 where no value is negative, and includes all intervals. Panels without a
/// finite value are empty.
std::string to_svg(const LineChart& chart);

}  // namespace tiersim
