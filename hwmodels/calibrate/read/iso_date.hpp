#pragma once
// Dates of files in ISO 8601, a day or a time with its zone, so that two of them can be ordered.
#include <cstdint>
#include <optional>
#include <string_view>

namespace tiersim {

struct IsoDate {
  std::int64_t day = 0;  ///< since 1970-01-01, in UTC
  /// Second of the day, in UTC; empty where only a day is stated.
  std::optional<std::int64_t> second;
};

/// The accepted forms of a date, for messages.
inline constexpr std::string_view kIsoDateForm =
    "a day, 2026-01-31, or a time, 2026-01-31T12:00:00Z";

/// Parses "2026-01-31", "2026-01-31T12:00:00Z" or "2026-01-31T12:00:00+01:00"; empty for any other
/// form, or where the calendar has no such day.
std::optional<IsoDate> parse_iso_date(std::string_view text);

enum class DateOrder : std::uint8_t { not_later, later, undecided };

/// Order of two dates: is `first` later than `second`? Undecided on the same day where only one of
/// them states its time. Two equal days without times are not later.
DateOrder date_order(const IsoDate& first, const IsoDate& second);

}  // namespace tiersim
