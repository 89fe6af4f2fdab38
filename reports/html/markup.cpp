#include "reports/html/markup.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Length of the UTF-8 character at `at`, 0 where it is invalid: RFC 3629, without overlong forms,
// surrogates and values beyond U+10FFFF.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 0 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(text, at + i)) return 0;
  const unsigned char second = byte(at + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool beyond = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    default:
      break;
  }
  const bool control = static_cast<unsigned char>(c) < 0x20 || c == '\x7F';
  out += control && c != '\n' && c != '\t' ? ' ' : c;
}

// One parsed tag of an SVG file: its name with "/" or "?", and its attributes.
struct SvgTag {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes = {};  // values as written
  bool empty = false;                                                // "<a/>"
};

constexpr std::string_view kBlanks = " \t\r\n";

SvgTag parse_tag(std::string_view inside) {
  SvgTag out;
  if (inside.ends_with('/')) {
    out.empty = true;
    inside.remove_suffix(1);
  }
  std::size_t at = std::min(inside.find_first_of(kBlanks), inside.size());
  out.name = inside.substr(0, at);
  while ((at = inside.find_first_not_of(kBlanks, at)) != std::string_view::npos) {
    const std::size_t equals = inside.find('=', at);
    TS_EXPECTS(equals != std::string_view::npos, inside);
    const std::size_t quote = inside.find_first_of("\"'", equals);
    TS_EXPECTS(quote != std::string_view::npos, inside);
    const std::size_t end = inside.find(inside[quote], quote + 1);
    TS_EXPECTS(end != std::string_view::npos, inside);
    std::string name(inside.substr(at, equals - at));
    name.erase(name.find_last_not_of(kBlanks) + 1);
    out.attributes.emplace_back(std::move(name), inside.substr(quote + 1, end - quote - 1));
    at = end + 1;
  }
  return out;
}

void set_attribute(SvgTag& tag, std::string_view name, std::string value) {
  for (auto& [key, old] : tag.attributes) {
    if (key != name) continue;
    old = std::move(value);
    return;
  }
  tag.attributes.emplace_back(name, std::move(value));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

// Rewrites style="fill:none; stroke-width:2" as fill="none" stroke-width="2".
void spread_style(SvgTag& tag) {
  const auto found = std::find_if(tag.attributes.begin(), tag.attributes.end(),
                                  [](const auto& a) { return a.first == "style"; });
  if (found == tag.attributes.end()) return;
  const std::string style = found->second;
  tag.attributes.erase(found);
  for (std::size_t at = 0; at < style.size();) {
    const std::size_t end = std::min(style.find(';', at), style.size());
    const std::string_view rule = std::string_view(style).substr(at, end - at);
    if (const std::size_t colon = rule.find(':'); colon != std::string_view::npos)
      set_attribute(tag, trimmed(rule.substr(0, colon)),
                    std::string(trimmed(rule.substr(colon + 1))));
    at = end + 1;
  }
}

// Puts the prefix before the ids in "#a" and "url(#a)".
void prefix_references(std::string& value, std::string_view prefix) {
  for (std::size_t at = value.find("url(#"); at != std::string::npos;
       at = value.find("url(#", at + 5 + prefix.size()))
    value.insert(at + 5, prefix);
}

std::string rewritten(std::string_view inside, std::string_view prefix) {
  SvgTag tag = parse_tag(inside);
  TS_EXPECTS(tag.name != "style" && tag.name != "script", tag.name);
  spread_style(tag);
  std::string out = "<" + tag.name;
  for (auto& [name, value] : tag.attributes) {
    if (name == "id") value.insert(0, prefix);
    if ((name == "href" || name == "xlink:href") && value.starts_with('#')) value.insert(1, prefix);
    prefix_references(value, prefix);
    const char quote = value.find('"') == std::string::npos ? '"' : '\'';
    out += ' ' + name + '=' + quote + value + quote;
  }
  return out + (tag.empty ? "/>" : ">");
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else if (length == 1) {
      append_escaped(out, text[at++]);
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

Html html_text(std::string_view text) {
  return {html_escaped(text)};
}

Html html_code(std::string_view text) {
  return {"<code>" + html_escaped(text) + "</code>"};
}

Html html_prose(std::string_view text) {
  Html out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('`', at);
    const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return out + html_text(text.substr(at));
    out = out + html_text(text.substr(at, open - at)) +
          html_code(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return out;
}

std::string plain_prose(std::string_view text) {
  std::string out(text);
  if (std::ranges::count(out, '`') % 2 == 0) std::erase(out, '`');
  return out;
}

Html html_link(std::string_view text, std::string_view id) {
  return {"<a href=\"#" + html_escaped(id) + "\">" + html_escaped(text) + "</a>"};
}

Html html_file_link(std::string_view text, std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string address;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos)
      address += c;
    else
      address += fmt::format("%{:02X}", byte);
  }
  // A colon can only end a scheme, and none is left.
  return {"<a href=\"" + address + "\">" + html_escaped(text) + "</a>"};
}

std::string json_for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

std::string html_id(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  if (out.ends_with('-')) out.pop_back();
  return out.empty() ? "part" : out;
}

std::string inline_svg(std::string_view svg, std::string_view prefix) {
  std::string out;
  out.reserve(svg.size() + svg.size() / 16);
  bool begun = false;  // everything before <svg> is prolog
  for (std::size_t at = 0; at < svg.size();) {
    if (svg[at] != '<') {
      const std::size_t end = std::min(svg.find('<', at), svg.size());
      if (begun) out += svg.substr(at, end - at);
      at = end;
      continue;
    }
    if (svg.substr(at).starts_with("<!--")) {
      const std::size_t end = svg.find("-->", at);
      TS_EXPECTS(end != std::string_view::npos, svg.substr(at, 40));
      at = end + 3;
      continue;
    }
    const std::size_t end = svg.find('>', at);
    TS_EXPECTS(end != std::string_view::npos, svg.substr(at, 40));
    const std::string_view inside = svg.substr(at + 1, end - at - 1);
    at = end + 1;
    if (inside.starts_with('?') || inside.starts_with('!')) continue;
    begun = true;
    out += inside.starts_with('/') ? "<" + std::string(inside) + ">" : rewritten(inside, prefix);
  }
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace tiersim
