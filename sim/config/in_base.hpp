#pragma once
// A scalar field's value as a number.
#include <type_traits>

#include "sim/base/units.hpp"

namespace tiersim::detail {

/// Counts and shares unchanged, times in picoseconds, quantities in their base unit.
template <class T>
double in_base(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_same_v<T, Duration>)
    return static_cast<double>(value.count());
  else
    return static_cast<double>(value.in_base());
}

}  // namespace tiersim::detail
