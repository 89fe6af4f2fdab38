#include "sim/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

namespace tiersim {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0 if the bytes are not UTF-8
};

CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // less is an overlong form
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  if (value < kLeast[bytes] || value > 0x10FFFF || surrogate) return {};
  return {value, bytes};
}

bool is_obeyed(std::uint32_t c) {
  const auto between = [c](std::uint32_t low, std::uint32_t high) { return c >= low && c <= high; };
  return c < 0x20 || between(0x7F, 0x9F) || between(0x200E, 0x200F) || between(0x2028, 0x202E) ||
         between(0x2066, 0x2069);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the distance table, over the prefixes of b: `row` for the current prefix of a, `above`
  // for the prefix that is one shorter, `above_that` for two shorter.
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> above_that(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({substitute, above[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], above_that[j - 1] + 1);
    }
    above_that.swap(above);
    above.swap(row);
  }
  return above.back();
}

std::string_view nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::size_t limit = std::clamp<std::size_t>(name.size() / 3, 1, 3);
  std::string_view best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t more = std::max(name.size(), candidate.size());
    const std::size_t less = std::min(name.size(), candidate.size());
    if (more - less >= best_distance) continue;  // each letter more is an edit
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = first_of(text);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (c.value == '\n')
      out += "\\n";
    else if (c.value == '\t')
      out += "\\t";
    else if (is_obeyed(c.value))
      out += c.value < 0x80 ? fmt::format("\\x{:02x}", c.value) : fmt::format("\\u{:04x}", c.value);
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

namespace {

constexpr std::size_t kMostOfALine = 200;

// At most so many bytes, without a part of a character at the end.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace

std::string shortened(std::string_view text, std::size_t most) {
  return std::string(cut(text, most)) + (text.size() > most ? "..." : "");
}

std::string excerpt(std::string_view text) {
  const std::string_view shown = cut(text.substr(0, text.find_first_of("\r\n")), kMostOfALine);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

std::string without_long_words(std::string_view text) {
  constexpr std::size_t kMost = 4000;
  std::string out;
  std::size_t from = 0;
  while (from < text.size() && out.size() < kMost) {
    const std::size_t blank = std::min(text.find(' ', from), text.size());
    const std::string_view word = text.substr(from, blank - from);
    out += shortened(word, kMostOfALine);
    if (blank < text.size()) out += ' ';
    from = blank + 1;
  }
  const bool all = from >= text.size() && out.size() <= kMost;
  return all ? out : std::string(cut(out, kMost)) + "...";
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::optional<double> plain_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace tiersim
