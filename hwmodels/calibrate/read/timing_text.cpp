#include "hwmodels/calibrate/read/timing_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/units_text.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kPeaks = "memory, l2, link_read, link_write or flops.<type>";

template <class T>
Expected<double> quantity(std::string_view text) {
  const Expected<T> parsed = parse_quantity<T>(text);
  if (!parsed) return Unexpected(parsed.error());
  return static_cast<double>(parsed->in_base());
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> seconds_in(std::string_view unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1.0;
  return std::nullopt;
}

Expected<double> parse_time(std::string_view text) {
  const std::size_t last = text.find_last_of("0123456789.");
  const std::size_t split = last == std::string_view::npos ? 0 : last + 1;
  const auto number = parse_number(text.substr(0, split));
  const auto unit = seconds_in(trimmed(text.substr(split)));
  if (number && unit) return *number * *unit;
  const char* why = number ? "is no time with a unit" : "is no time";
  return Unexpected(fmt::format("'{}' {} (as in '12.5 us': ns, us, ms or s)", text, why));
}

Expected<double> parse_size(std::string_view text) {
  if (const auto plain = parse_number(text)) {
    if (*plain >= 0) return *plain;
    return Unexpected(fmt::format("'{}' is below 0", text));
  }
  return quantity<Bytes>(text);
}

Expected<double> parse_cache_size(std::string_view text) {
  constexpr double kLeast = 1e6;
  Expected<double> size = parse_size(text);
  if (size && *size < kLeast)
    return Unexpected(fmt::format("'{}' is below 1 MB, so no L2: is its unit missing?", text));
  return size;
}

Expected<double> parse_peak(std::string_view name, std::string_view text) {
  if (!is_peak_name(name))
    return Unexpected(fmt::format("no peak is called '{}' ({})", name, kPeaks));
  Expected<double> rate =
      name.starts_with("flops.") ? quantity<FlopRate>(text) : quantity<Bandwidth>(text);
  if (rate && !(*rate >= 1)) return Unexpected(fmt::format("'{}' is no peak above 0", text));
  return rate;
}

bool is_peak_name(std::string_view name) {
  constexpr std::string_view kFlops = "flops.";
  return name == "memory" || name == "l2" || name == "link_read" || name == "link_write" ||
         (name.starts_with(kFlops) && name.size() > kFlops.size());
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::optional<std::pair<std::string, std::string>> comment_setting(std::string_view line) {
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view key = trimmed(line.substr(0, colon));
  if (key.empty() || key.find_first_of(kBlanks) != std::string_view::npos) return std::nullopt;
  return std::pair{std::string(key), std::string(trimmed(line.substr(colon + 1)))};
}

}  // namespace tiersim
