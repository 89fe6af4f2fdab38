#pragma once
// Lines over a common x axis, in one panel or several small ones, as SVG. A series has the same
// colour, dash and marker in every panel, so that the one legend serves all, also in black and
// white.
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"

namespace tiersim {

struct ChartSeries {
  std::string name;
  std::vector<double> x;  ///< positive where the axis is logarithmic; rising, where joined
  std::vector<double> y;  ///< as many; a value that is not finite interrupts the line
  /// 95 % intervals of y, drawn as whiskers; empty, or one for each value, where there is one.
  std::vector<std::optional<Interval<double>>> ci95 = {};
  bool joined = true;  ///< false: markers alone, of values that do not follow from each other
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
  bool common_y = false;    ///< one scale for all panels, to compare them
  bool log_y = false;       ///< of panels whose values are all positive
};

/// y starts at 0 where no value is negative, and holds all intervals. Panels without a finite value
/// are empty.
std::string to_svg(const LineChart& chart);

}  // namespace tiersim
