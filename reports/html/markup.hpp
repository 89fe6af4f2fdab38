#pragma once
// Text and HTML. Text from people or files is escaped exactly once, here. Markup has the type Html,
// so that the compiler keeps the two apart.
#include <string>
#include <string_view>

namespace tiersim {

/// Markup, written without escaping.
struct Html {
  std::string markup = {};

  friend Html operator+(Html a, const Html& b) {
    a.markup += b.markup;
    return a;
  }
};

/// For content and for quoted attributes: & < > " ' are escaped, control characters except tab and
/// newline become blanks, and invalid UTF-8 becomes U+FFFD.
std::string html_escaped(std::string_view text);

Html html_text(std::string_view text);
Html html_code(std::string_view text);
/// Running text in which `words in backquotes` are code. A backquote without a partner stays.
Html html_prose(std::string_view text);
/// The same text without backquotes, for places where markup is not allowed.
std::string plain_prose(std::string_view text);
/// A link to an element of the same page.
Html html_link(std::string_view text, std::string_view id);
/// A link to a file by its path relative to the page, percent-encoded.
Html html_file_link(std::string_view text, std::string_view path);

/// JSON that is safe within a <script>: "<", ">" and "&" become \u escapes. They can only be inside
/// of strings, so no text ends the element.
std::string json_for_script(std::string_view json);

/// An id from a text in lower case, of letters, digits and single hyphens: "a-b" from "A & B",
/// "part" where nothing is left.
std::string html_id(std::string_view text);

/// An SVG file as an element of a page, without prolog and comments. Ids and references to them get
/// `prefix`, so that those of two figures differ. Style attributes become presentation attributes,
/// which a content security policy against inline styles allows. The drawing must have no <style>
/// and no <script>.
std::string inline_svg(std::string_view svg, std::string_view prefix);

}  // namespace tiersim
