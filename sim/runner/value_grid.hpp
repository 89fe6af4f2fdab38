#pragma once
// The values that a search tries: numbers of a fixed number of significant digits, in whole units.
// They do not depend on the range of the search, so that two ranges around one crossing have the
// same answer.
//
//   const ValueGrid grid{.digits = 4, .unit_exponent = -12};   // ... 19.99, 20, 20.01 ...
//   grid.value(grid.floor(20.004));                            // 20
#include <cstdint>
#include <vector>

namespace tiersim {

struct ValueGrid {
  int digits = 7;  ///< 1 to 18: neighbours differ by at most 10^(1 - digits) of themselves
  /// Values are whole multiples of 10^unit_exponent. At 18 digits that is the only limit, so that a
  /// grid of whole numbers has 18 digits and the exponent 0.
  int unit_exponent = 0;

  /// The place of the nearest value at or below x, and at or above it; neighbours have neighbouring
  /// places. `x` is finite; one beyond 1e22 (1e17 at 18 digits) has the place of that number.
  std::int64_t floor(double x) const;
  std::int64_t ceil(double x) const { return -floor(-x); }
  std::int64_t nearest(double x) const;
  /// The double that is nearest to the decimal value at a place.
  double value(std::int64_t place) const;

  /// Places strictly between two others, at the preferred numbers R10 of ISO 3 (1, 1.25, 1.6, 2,
  /// 2.5, 3.15, 4, 5, 6.3, 8 and their decades), ascending. Where the lower end is not positive,
  /// only those from a thousandth of the upper end on.
  std::vector<std::int64_t> samples(std::int64_t low, std::int64_t high) const;
};

/// The whole number strictly between `low` and `high` that 2 divides most often. Bisection by it
/// visits the same numbers near a crossing, whatever the range it begins with. high - low > 1.
std::int64_t roundest_between(std::int64_t low, std::int64_t high);

}  // namespace tiersim
