#pragma once
// The enumerator of a law by its name in YAML, and the name of an enumerator, for select().
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "sim/base/check.hpp"

namespace tiersim {

/// The enumerator of this name, which must exist. The names stand in the order of the enumerators.
template <class Enum, std::size_t N>
Enum enumerator(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  TS_EXPECTS(at != names.end(), name);
  return static_cast<Enum>(at - names.begin());
}

template <class Enum, std::size_t N>
std::string spelled(const std::array<std::string_view, N>& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

}  // namespace tiersim
