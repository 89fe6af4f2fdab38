#pragma once
// Faults of a YAML text that its parser does not report, or does not report clearly.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tiersim {

/// Largest text of one file.
inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20U;

struct TextFault {
  int line = 1;    ///< from 1
  int column = 1;  ///< from 1, in bytes
  std::string message;
  std::string hint = {};
};

/// Removes a UTF-8 byte order mark, turns CRLF into LF and ends the last line; columns stay what an
/// editor shows.
void normalise(std::string& text);

/// The first of: too large, not UTF-8, a control character, a tab in an indentation.
std::optional<TextFault> text_fault(std::string_view text);

/// True where the quoted scalar at `at` ends with its quote, and for every block scalar.
bool is_closed_quote(std::string_view text, std::size_t at);

}  // namespace tiersim
