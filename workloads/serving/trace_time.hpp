#pragma once
// Times of arrival as traces write them, to the picosecond.
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/units.hpp"

namespace tiersim {

/// A date and time of day.
struct TimeStamp {
  Int128 time = 0;     ///< picoseconds since 1970 in its own time zone; in UTC where it has a zone
  bool zoned = false;  ///< it ends in Z or an offset such as +01:00
};

/// "2026-03-01T08:00:00.25+01:00": the separator is T or a space, decimals and zone are optional.
/// Decimals beyond the twelfth are dropped.
std::optional<TimeStamp> parse_time_stamp(std::string_view text);

/// A decimal number of units of 10^`exponent` seconds, in picoseconds: "1700000000.25", "1.7e9".
/// What is less than a picosecond is dropped. None where it is no number, or above 1e26 ps.
std::optional<Int128> parse_decimal_time(std::string_view text, int exponent);

}  // namespace tiersim
