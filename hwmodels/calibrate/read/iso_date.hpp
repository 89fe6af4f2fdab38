#pragma once
// Dates as files state them: ISO 8601, a day or a time with its zone, so that it can be told which
// of two came first.
#include <cstdint>
#include <optional>
#include <string_view>

namespace tiersim {

struct IsoDate {
  std::int64_t day = 0;                ///< since 1970-01-01, in UTC
  std::optional<std::int64_t> second;  ///< of the day, in UTC; nothing where only a day is stated
};

/// What a date must look like, for messages.
inline constexpr std::string_view kIsoDateForm =
    "a day, 2026-01-31, or a time, 2026-01-31T12:00:00Z";

/// "2026-01-31", "2026-01-31T12:00:00Z" or "2026-01-31T12:00:00+01:00"; nothing where it is none of
/// them, or no day of the calendar.
std::optional<IsoDate> parse_iso_date(std::string_view text);

enum class DateOrder : std::uint8_t { not_later, later, undecided };

/// Whether `first` is later than `second`: undecided where they are of one day and only one of them
/// says its time; two days alone are not later where they are the same.
DateOrder date_order(const IsoDate& first, const IsoDate& second);

}  // namespace tiersim
