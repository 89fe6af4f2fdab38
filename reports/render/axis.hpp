#pragma once
// Ticks and labels of a linear axis, and the dashes of lines for black and white.
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace tiersim {

struct AxisRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  /// Values that are not finite are ignored.
  void add(double value);
  bool empty() const { return low > high; }
};

/// True where an axis of these values is logarithmic by default: they are positive and span more
/// than a decade, that is, a factor of 16.
bool is_wide(const AxisRange& values);

/// 1, 2 or 5 times a power of ten, with at most five steps over the range.
double tick_step(double range);

/// From 0, or a tick below it, to a tick above every value; 0 to 1 without values.
AxisRange with_ticks(AxisRange values);

/// The label of a tick. `largest`, the largest value of the axis, sets the common thousands.
std::string decimal_label(double value, double largest);

/// Dashes of the i-th line.
std::string_view dash_of(std::size_t i);

}  // namespace tiersim
