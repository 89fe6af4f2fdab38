#pragma once
// Dimensions of numbers in expressions: products of powers of bytes, operations, seconds, joules
// and dollars. Counts (tokens, sequences, layers) have none. The units are those of configurations
// (sim/base/units_text.hpp); there is no second table.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"

namespace tiersim {

struct Dimension {
  /// Powers of B, FLOP, s, J, USD.
  std::array<std::int8_t, 5> powers = {};

  bool plain() const { return *this == Dimension{}; }
  /// Canonical text: "B/s", "FLOP/B", "B^2*s", "1/s"; empty for a plain number.
  std::string text() const;
  /// "a size", "a duration", else "in B^2"; for messages.
  std::string noun() const;
  /// The inverse of text(); nothing if the text is not canonical.
  static std::optional<Dimension> parse(std::string_view text);

  bool operator==(const Dimension&) const = default;
};

/// Nothing if a power is outside of -100 to 100.
std::optional<Dimension> product(const Dimension& a, const Dimension& b);
std::optional<Dimension> quotient(const Dimension& a, const Dimension& b);
std::optional<Dimension> power(const Dimension& a, int exponent);
/// Nothing if a power is odd.
std::optional<Dimension> square_root(const Dimension& a);

/// A unit of `numerator / denominator` of B, s, ... The two are stored separately, so that 200 ms
/// is exactly the double nearest to 0.2.
struct ScaledUnit {
  Dimension dimension = {};
  double numerator = 1;
  double denominator = 1;

  double scale(double number) const { return number * numerator / denominator; }
};

/// The unit of this name; counts of metrics ("tokens/s") are plain numbers. Nothing if there is
/// none.
std::optional<ScaledUnit> find_unit(std::string_view symbol);
/// Length of the longest unit at the start of `text` that no letter or digit follows; 0 if there is
/// none.
std::size_t unit_length(std::string_view text);
/// The unit with the nearest spelling, or empty.
std::string nearest_unit(std::string_view symbol);

/// "48 GB/s" for 48e9 B/s, in whole base units as configurations take quantities. The error is a
/// dimension without settings, or a value that is negative or too large.
Expected<std::string> quantity_text(double value, const Dimension& dimension);

}  // namespace tiersim
