#pragma once
// Helpers for text in messages: the nearest known name, lists, and escapes for terminals.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tiersim {

/// Optimal string alignment distance: the least number of bytes inserted, deleted or substituted
/// and of neighbours exchanged that turns one text into the other. No byte is edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or an empty view if none is near enough (a third of the length,
/// at least one and at most three edits). Ties go to the first.
std::string_view nearest(std::string_view name, std::span<const std::string> candidates);

/// The text with everything escaped that a terminal would obey rather than show: control characters
/// (\\n, \\x1b), those of Unicode (\\u009b, and the marks that change the direction of text), and
/// bytes that are not UTF-8.
std::string printable(std::string_view text);

/// The first line of the text, at most 200 bytes of whole characters, with "..." where more
/// follows.
std::string excerpt(std::string_view text);

/// At most `most` bytes of the text and, where more follow, "...". A character of UTF-8 is not cut.
std::string shortened(std::string_view text, std::size_t most);

/// The text with each word of more than 200 bytes cut short, and at most 4000 bytes in all.
std::string without_long_words(std::string_view text);

/// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// The text as a double-quoted scalar of YAML; it must have no control characters (`printable`).
std::string yaml_quoted(std::string_view text);

/// The finite decimal number that makes up the whole text; "nan", "inf" and hexadecimal are
/// refused.
std::optional<double> plain_number(const std::string& text);

constexpr bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace tiersim
