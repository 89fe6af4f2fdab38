#pragma once
// Ticks and labels of a linear axis, and what tells lines apart in black and white.
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace tiersim {

struct AxisRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  /// Values that are not finite are left out.
  void add(double value);
  bool empty() const { return low > high; }
};

/// 1, 2 or 5 times a power of ten: at most five steps over the range.
double tick_step(double range);

/// From 0, or a tick below it, to a tick above every value; 0 to 1 of nothing.
AxisRange with_ticks(AxisRange values);

/// All labels of an axis count in the same thousands, which its largest value sets.
std::string decimal_label(double value, double largest);

/// Dashes of the i-th line.
std::string_view dash_of(std::size_t i);

}  // namespace tiersim
