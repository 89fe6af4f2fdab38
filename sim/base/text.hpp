#pragma once
// Small helpers on names: what did the user probably mean, and lists for messages.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tiersim {

/// Bytes inserted, deleted or substituted and neighbours exchanged, at least, to make one text of
/// the other; no byte is edited twice (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or an empty view when none is near enough (a third of the
/// length, at least one and at most three edits). Ties go to the first.
std::string_view nearest(std::string_view name, std::span<const std::string> candidates);

/// The text with what a terminal would obey instead of show as escapes: control characters (\\n,
/// \\x1b), those of Unicode (\\u009b, and the marks that turn the direction of text), and bytes
/// that are no UTF-8.
std::string printable(std::string_view text);

/// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

constexpr bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace tiersim
