#pragma once
// Text on its way into HTML. Text that people or files gave is escaped exactly once, here; what is
// markup already is an Html, so that the compiler keeps the two apart.
#include <string>
#include <string_view>

namespace tiersim {

/// Markup of ours, written as it stands.
struct Html {
  std::string markup = {};

  friend Html operator+(Html a, const Html& b) {
    a.markup += b.markup;
    return a;
  }
};

/// For content and for attributes in quotes: & < > " ' escaped, control characters but tab and
/// newline are blanks, bytes that are no UTF-8 are U+FFFD.
std::string html_escaped(std::string_view text);

Html html_text(std::string_view text);
Html html_code(std::string_view text);
/// Running text in which `words in backquotes` are code; a backquote without another stays.
Html html_prose(std::string_view text);
/// The same where no markup can be: without the backquotes.
std::string plain_prose(std::string_view text);
/// To an element of the same page.
Html html_link(std::string_view text, std::string_view id);
/// To a file by its path relative to the page; what an address cannot have is escaped.
Html html_file_link(std::string_view text, std::string_view path);

/// JSON that may stand in a <script>: "<", ">" and "&" as \u escapes, which in JSON can only be
/// inside of strings, so that no text in it ends the element.
std::string json_for_script(std::string_view json);

/// Letters, digits and single hyphens, from the text in lower case: "a-b" of "A & B". "part" where
/// nothing is left.
std::string html_id(std::string_view text);

/// An SVG file as an element of a page: without prolog and comments, its ids (and what refers to
/// them) with `prefix`, so that those of two figures differ, and style attributes as presentation
/// attributes, which a policy against inline styles does not touch. The drawing must be without
/// <style> and <script>.
std::string inline_svg(std::string_view svg, std::string_view prefix);

}  // namespace tiersim
