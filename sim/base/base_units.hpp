#pragma once
// A quantity of any dimension as the whole number that it is kept as, and back, so that code about
// all of WithQuantities (units.hpp) does not tell durations from the rest again and again.
#include <cstdint>
#include <type_traits>

#include "sim/base/units.hpp"

namespace tiersim {

/// How many of its base units a quantity is: ps, B, nJ, ... as units.hpp has them.
template <class T>
constexpr std::int64_t base_units(T quantity) {
  if constexpr (std::is_same_v<T, Duration>)
    return quantity.count();
  else
    return quantity.in_base();
}

/// So many base units of T.
template <class T>
constexpr T from_base_units(std::int64_t count) {
  if constexpr (std::is_same_v<T, Duration>)
    return Duration(count);
  else
    return T::from_base(count);
}

/// The number that a metric of this dimension has: in s, J or USD; in base units where that is what
/// metrics use (B, B/s, FLOP).
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
