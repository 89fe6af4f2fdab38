#pragma once
// Quantities as text, as people write them in YAML: a decimal number, one space, a unit. KB is 1000
// bytes and KiB 1024; case matters; a bare number is an error. Arithmetic is exact decimal, so that
// parse(format(x)) == x for every x.
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

/// Parses "141 GB". The error names the value and the allowed units, and says so when the unit
/// belongs to another dimension or differs in case only. T: any of WithQuantities (units.hpp).
template <class T>
Expected<T> parse_quantity(std::string_view text);

/// The canonical text: the shortest exact one, with the largest unit among equals.
template <class T>
std::string format_quantity(T value);

/// The dimension with its article: "a size", "an operation count", "an energy per byte".
template <class T>
std::string dimension_noun();

/// "B, KiB, MiB, ...": the units of the dimension, comma separated.
template <class T>
std::string unit_list();

}  // namespace tiersim
