#pragma once
// The provenance of numbers. Every parameter of a shipped device carries its class and source, and
// every result carries the weakest class among its inputs.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tiersim {

/// From strongest to weakest; an enumerator is spelled as in YAML. Announced is what a vendor says
/// of a part that nobody can buy yet.
enum class NumberClass : std::uint8_t { measured, fitted, specification, announced, assumed };

inline constexpr std::array<std::string_view, 5> kNumberClassNames{
    "measured", "fitted", "specification", "announced", "assumed"};

constexpr std::string_view name(NumberClass c) {
  return kNumberClassNames[static_cast<std::size_t>(c)];
}
constexpr NumberClass weakest(NumberClass a, NumberClass b) {
  return a < b ? b : a;
}

/// low <= high.
template <class T>
struct Interval {
  T low{};
  T high{};

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A value with its origin. `T` is a quantity or a plain number.
template <class T>
struct Sourced {
  T value{};
  NumberClass number_class = NumberClass::assumed;
  std::string source = {};
  std::optional<Interval<T>> ci95 = {};  ///< 95 % interval around the value, where known
};

}  // namespace tiersim
