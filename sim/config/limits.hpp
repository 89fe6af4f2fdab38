#pragma once
// The values that a field admits, written beside the field:
//
//   f.required("layers", c.layers, "Decoder layers.", in_range(1, 1000));
//   f.required("peak", c.peak, "Data-sheet bandwidth.", positive());
//   f.optional("lanes", c.lanes, "Lanes of the link.", one_of({1, 2, 4, 8, 16}));
//
// Bounds of quantities are quantities: at_least(64_B). Limits of a list, map or optional hold for
// its values.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

/// A bound: a plain number or a quantity.
using Number = WithQuantities<std::variant, std::int64_t, double>;

struct Limits {
  std::optional<Number> low = {};
  std::optional<Number> high = {};  ///< inclusive
  bool low_open = false;            ///< true where `low` itself is excluded
  std::vector<std::string> allowed = {};
  bool any_scalar = false;  ///< text that may look like a number or truth value, for the schema

  bool any() const { return low || high || !allowed.empty(); }
  /// "1 to 1000", "above 0 up to 1", "at least 64 B", "above 0", "1, 2, 4".
  std::string text() const;
};

namespace detail {
template <class T>
Number to_number(T value) {
  if constexpr (std::integral<T>)
    return static_cast<std::int64_t>(value);
  else if constexpr (std::floating_point<T>)
    return static_cast<double>(value);
  else if constexpr (std::convertible_to<T, Duration>)
    return Duration(value);
  else
    return value;
}
}  // namespace detail

/// low <= value <= high.
template <class Low, class High>
Limits in_range(Low low, High high) {
  return {.low = detail::to_number(low), .high = detail::to_number(high)};
}
/// value >= low.
template <class Low>
Limits at_least(Low low) {
  return {.low = detail::to_number(low)};
}
/// value > low.
template <class Low>
Limits above(Low low) {
  return {.low = detail::to_number(low), .low_open = true};
}
/// 0 < value <= 1.
Limits fraction();
/// value > 0, for numbers and quantities alike.
Limits positive();
/// For text that people also write as numbers or truth values: `values: [8192, on]`.
Limits any_scalar();
/// One of these words.
Limits one_of(std::initializer_list<std::string_view> words);
/// One of these whole numbers.
Limits one_of(std::initializer_list<std::int64_t> numbers);

}  // namespace tiersim
