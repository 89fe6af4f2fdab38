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
/// belongs to another dimension or differs in case only. T: Bytes, Bandwidth, Flops, FlopRate,
/// Duration.
template <class T>
Expected<T> parse_quantity(std::string_view text);

/// The canonical text: the shortest exact one, with the largest unit among equals.
template <class T>
std::string format_quantity(T value);

/// "size", "bandwidth", "operation count", "operation rate", "duration".
template <class T>
std::string_view dimension_name();

/// "B, KiB, MiB, ...": the units of the dimension, comma separated.
template <class T>
std::string unit_list();

}  // namespace tiersim
