#pragma once
// Conversion between a quantity of any dimension and the whole number that stores it. Code that
// handles all of WithQuantities (units.hpp) then needs no special case for durations.
#include <cstdint>
#include <type_traits>

#include "sim/base/units.hpp"

namespace tiersim {

/// The quantity as a count of its base units (ps, B, nJ, ...; units.hpp lists them).
template <class T>
constexpr std::int64_t base_units(T quantity) {
  if constexpr (std::is_same_v<T, Duration>)
    return quantity.count();
  else
    return quantity.in_base();
}

/// The quantity of `count` base units.
template <class T>
constexpr T from_base_units(std::int64_t count) {
  if constexpr (std::is_same_v<T, Duration>)
    return Duration(count);
  else
    return T::from_base(count);
}

/// The value of a metric of this dimension: in s, J or USD; in base units for the dimensions whose
/// metrics use them (B, B/s, FLOP).
template <class T>
constexpr double metric_units(T quantity) {
  if constexpr (std::is_same_v<T, Duration>)
    return to_seconds(quantity);
  else if constexpr (std::is_same_v<T, Energy>)
    return to_joules(quantity);
  else if constexpr (std::is_same_v<T, Money>)
    return to_usd(quantity);
  else
    return static_cast<double>(quantity.in_base());
}

}  // namespace tiersim
