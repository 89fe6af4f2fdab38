#include "sim/config/yaml_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

// Bytes of the UTF-8 character at the start of `text`, 0 when there is none. Overlong forms and
// surrogates count as none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  const unsigned second = byte(1);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

}  // namespace

void normalise(std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::string::size_type out = 0;
  for (std::string::size_type i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[out++] = text[i];
  text.resize(out);
  if (!text.empty() && text.back() != '\n') text += '\n';
}

std::optional<TextFault> text_fault(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return TextFault{1, 1, fmt::format("larger than {} MiB", kMaxTextBytes >> 20U)};
  int line = 1;
  int column = 1;
  bool indentation = true;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      column = 1;
      indentation = true;
      ++i;
      continue;
    }
    if (c == '\t' && indentation)
      return TextFault{line, column, "a tab in the indentation", "use spaces"};
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\t') || code == 0x7F)
      return TextFault{line, column, fmt::format("control character 0x{:02x}", code)};
    const std::size_t length = character_length(text.substr(i));
    if (length == 0) return TextFault{line, column, "not UTF-8 text", "save the file as UTF-8"};
    indentation = indentation && c == ' ';
    i += length;
    column += static_cast<int>(length);
  }
  return std::nullopt;
}

bool is_closed_quote(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != '\'') return true;
      ++i;  // '' is a quote within
    }
  }
  return false;
}

}  // namespace tiersim
