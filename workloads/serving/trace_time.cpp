#include "workloads/serving/trace_time.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace tiersim {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Takes `count` digits from the start; empty where there are fewer.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  int value = 0;
  if (text.size() < count) return std::nullopt;
  for (const char c : text.substr(0, count)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

// Takes two digits from 0 to `most`.
std::optional<int> take_pair(std::string_view& text, int most) {
  const auto value = take_digits(text, 2);
  return value && *value <= most ? value : std::nullopt;
}

// Takes decimals of a second in picoseconds: ".9799600" is 979,960,000,000 ps.
std::optional<std::int64_t> take_decimals(std::string_view& text) {
  if (!take(text, '.')) return 0;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::int64_t value = 0;
  std::int64_t unit = kPicosecondsPerSecond;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    unit /= 10;
    value += unit * (text.front() - '0');
  }
  return value;
}

std::optional<std::int64_t> take_days(std::string_view& text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// Takes the rest: nothing, Z, +hh, +hhmm or +hh:mm. Seconds to subtract; none where it is no zone.
std::optional<int> take_zone(std::string_view text) {
  if (text == "Z" || text == "z" || text.empty()) return 0;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  constexpr int kMostHours = 18;
  const auto hours = take_pair(text, kMostHours);
  if (!hours) return std::nullopt;
  if (text.empty()) return sign * *hours * 3600;
  take(text, ':');
  const auto minutes = take_pair(text, 59);
  if (!minutes || !text.empty()) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<TimeStamp> parse_time_stamp(std::string_view text) {
  const auto days = take_days(text);
  if (!days || !(take(text, 'T') || take(text, ' ') || take(text, 't'))) return std::nullopt;
  const auto hour = take_pair(text, 23);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_pair(text, 59);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_pair(text, 59);
  if (!second) return std::nullopt;
  const auto decimals = take_decimals(text);
  if (!decimals) return std::nullopt;
  const auto zone = take_zone(text);
  if (!zone) return std::nullopt;
  const std::int64_t seconds = ((*days * 24 + *hour) * 60 + *minute) * 60 + *second - *zone;
  return TimeStamp{Int128{seconds} * kPicosecondsPerSecond + *decimals, !text.empty()};
}

std::optional<Int128> parse_decimal_time(std::string_view text, int exponent) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::string_view power = text.substr(e);
  if (!power.empty()) {
    power.remove_prefix(1);
    take(power, '+');
    int value = 0;
    const auto [stop, error] = std::from_chars(power.data(), power.data() + power.size(), value);
    if (error != std::errc() || stop != power.data() + power.size() || value > 99 || value < -99)
      return std::nullopt;
    exponent += value;
  }
  text = text.substr(0, e);
  Int128 value = 0;
  bool any = false;
  bool point = false;
  int scale = exponent + 12;  // of the digits so far, in powers of ten of a picosecond
  constexpr Int128 kMost = Int128{10'000'000'000'000} * 10'000'000'000'000;  // 1e26
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    any = true;
    if (value > kMost) return std::nullopt;
    if (point && scale <= 0 && value != 0) continue;  // below a picosecond
    value = value * 10 + (c - '0');
    if (point) --scale;
  }
  if (!any) return std::nullopt;
  for (; scale > 0 && value != 0; --scale) {
    value *= 10;
    if (value > kMost) return std::nullopt;
  }
  for (; scale < 0 && value != 0; ++scale) value /= 10;
  return negative ? -value : value;
}

}  // namespace tiersim
