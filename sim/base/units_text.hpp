#pragma once
// Quantities as the text that people write in YAML: a decimal number, one space, a unit. KB is 1000
// bytes and KiB 1024; case matters; a bare number is an error. Arithmetic is exact decimal, so that
// parse(format(x)) == x for every x.
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

/// Parses "141 GB". The error names the value and the allowed units; it also says if the unit
/// belongs to another dimension or differs only in case. T is any of WithQuantities (units.hpp).
template <class T>
Expected<T> parse_quantity(std::string_view text);

/// The canonical text: the shortest exact one; among equally short ones, that with the largest
/// unit.
template <class T>
std::string format_quantity(T value);
/// Appends it.
template <class T>
void append_quantity(std::string& out, T value);

/// The dimension with its article: "a size", "an operation count", "an energy per byte".
template <class T>
std::string dimension_noun();

/// "B, KiB, MiB, ...": the units of the dimension, comma separated.
template <class T>
std::string unit_list();

}  // namespace tiersim
