#pragma once
// Dimensions of numbers in expressions: products of powers of bytes, operations, seconds, joules
// and dollars. What is only counted (tokens, sequences, layers) has none. The units are those of
// configurations (sim/base/units_text.hpp); there is no second table.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"

namespace tiersim {

struct Dimension {
  /// Of B, FLOP, s, J, USD.
  std::array<std::int8_t, 5> powers = {};

  bool plain() const { return *this == Dimension{}; }
  /// Canonical: "B/s", "FLOP/B", "B^2*s", "1/s"; empty where plain.
  std::string text() const;
  /// "a size", "a duration", else "in B^2"; for messages.
  std::string noun() const;
  /// The reverse of text(); nothing where that is no canonical text.
  static std::optional<Dimension> parse(std::string_view text);

  bool operator==(const Dimension&) const = default;
};

/// Nothing where a power leaves -100 to 100.
std::optional<Dimension> product(const Dimension& a, const Dimension& b);
std::optional<Dimension> quotient(const Dimension& a, const Dimension& b);
std::optional<Dimension> power(const Dimension& a, int exponent);
/// Nothing where a power is odd.
std::optional<Dimension> square_root(const Dimension& a);

/// A unit: one of it is `numerator / denominator` of B, s, ...; apart, so that 200 ms is exactly
/// the double nearest to 0.2.
struct ScaledUnit {
  Dimension dimension = {};
  double numerator = 1;
  double denominator = 1;

  double scale(double number) const { return number * numerator / denominator; }
};

/// The unit of this name; counts of metrics ("tokens/s") are plain. Nothing where there is none.
std::optional<ScaledUnit> find_unit(std::string_view symbol);
/// The longest unit that `text` begins with, and that ends there or before what is no part of a
/// word; its length, or 0.
std::size_t unit_length(std::string_view text);
/// The unit nearest in spelling, or empty.
std::string nearest_unit(std::string_view symbol);

/// "48 GB/s" of 48e9 B/s, in whole base units as configurations take quantities. The error is a
/// dimension that no setting has, or a value that is negative or too large.
Expected<std::string> quantity_text(double value, const Dimension& dimension);

}  // namespace tiersim
