#include "workloads/serving/azure_trace.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

namespace tiersim {
namespace {

// Takes `count` digits from the start; empty where there are fewer.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  int value = 0;
  if (text.size() < count) return std::nullopt;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Takes decimals of a second in picoseconds: ".9799600" is 979,960,000,000 ps.
std::optional<std::int64_t> take_decimals(std::string_view& text) {
  if (text.empty()) return 0;
  constexpr std::size_t kMost = 12;
  if (!take(text, '.') || text.empty() || text.size() > kMost) return std::nullopt;
  std::int64_t value = 0;
  for (std::size_t i = 0; i < kMost; ++i) {
    int digit = 0;
    if (!text.empty()) {
      const auto next = take_digits(text, 1);
      if (!next) return std::nullopt;
      digit = *next;
    }
    value = value * 10 + digit;
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

// Picoseconds from 1970 to a time such as "2023-11-16 18:17:03.9799600".
std::optional<Int128> stamp(std::string_view text) {
  const auto days = take_days(text);
  if (!days || !take(text, ' ')) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const auto decimals = take_decimals(text);
  if (!decimals) return std::nullopt;
  const std::int64_t seconds = ((*days * 24 + *hour) * 60 + *minute) * 60 + *second;
  return Int128{seconds} * kPicosecondsPerSecond + *decimals;
}

void read_request(const TraceLine& line, TraceBuilder& out) {
  const auto commas = std::ranges::count(line.text, ',');
  if (commas != 2)
    return out.report(line, fmt::format("has {} columns", commas + 1),
                      fmt::format("there are 3: {}", kAzureHeader));
  const std::size_t first = line.text.find(',');
  const std::size_t second = line.text.find(',', first + 1);
  const auto time = stamp(line.text.substr(0, first));
  if (!time)
    out.report(line, fmt::format("TIMESTAMP is {}", in_quotes(line.text.substr(0, first))),
               "it is a time such as 2023-11-16 18:17:03.9799600");
  const RecordedRequest request{
      .time = time.value_or(0),
      .input_tokens =
          out.tokens(line, "ContextTokens", line.text.substr(first + 1, second - first - 1)),
      .output_tokens = out.tokens(line, "GeneratedTokens", line.text.substr(second + 1))};
  out.add(line, request);
}

}  // namespace

void read_azure_trace(std::string_view text, TraceBuilder& out) {
  out.each_line(text, [&](const TraceLine& line) {
    if (line.number > 1) read_request(line, out);
  });
}

}  // namespace tiersim
