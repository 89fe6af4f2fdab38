#include "reports/html/page.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include <fmt/format.h>

#include "reports/html/embedded.hpp"
#include "sim/base/check.hpp"
#include "sim/base/sha256.hpp"

namespace tiersim {
namespace {

std::string base64(const Digest& digest) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < digest.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (at + i < digest.size() ? digest[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += at + i <= digest.size() ? kDigits[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return out;
}

// The hashes of the texts on the page, or 'none'; nothing else is allowed.
std::string hashes(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += " 'sha256-" + base64(sha256(text)) + "'";
  return texts.empty() ? " 'none'" : out;
}

std::string policy(const std::vector<std::string>& scripts,
                   const std::vector<std::string>& styles) {
  return "default-src 'none'; script-src" + hashes(scripts) + "; style-src" + hashes(styles) +
         "; img-src data:; base-uri 'none'; form-action 'none'";
}

// Columns of running text: they may wrap, but not to one word a line.
std::vector<bool> long_columns(const Table& table) {
  constexpr std::size_t kLong = 40;
  std::vector<bool> out(table.columns.size());
  for (std::size_t c = 0; c < out.size(); ++c)
    out[c] =
        alignment(table, c) == Align::left && std::ranges::any_of(table.rows, [&](const Row& row) {
          return c < row.size() && display_width(row[c].shown()) > kLong;
        });
  return out;
}

// True for a right-aligned column with digits or without letters. Right is the default alignment.
std::vector<bool> number_columns(const Table& table) {
  const auto has = [](const std::string& cell, int (*kind)(int)) {
    return std::ranges::any_of(cell,
                               [&](char c) { return kind(static_cast<unsigned char>(c)) != 0; });
  };
  std::vector<bool> out(table.columns.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    bool digits = false;
    bool letters = false;
    for (const auto& row : table.rows) {
      if (c >= row.size()) continue;
      const std::string text = row[c].shown();
      digits = digits || has(text, std::isdigit);
      letters = letters || has(text, std::isalpha);
    }
    out[c] = alignment(table, c) == Align::right && (digits || !letters);
  }
  return out;
}

// The CSS class of a cell; screen readers use its text.
std::string cell_class(bool is_number, std::string_view mark, bool is_long = false) {
  TS_EXPECTS(mark.empty() || mark == "good" || mark == "bad" || mark == "warn" || mark == "quiet",
             mark);
  std::string out(is_number ? "n" : is_long ? "long" : "");
  if (!mark.empty()) out += (out.empty() ? "" : " ") + std::string(mark);
  return out.empty() ? "" : " class=\"" + out + "\"";
}

// Presentation of the cells of each column.
struct ColumnLooks {
  std::vector<bool> numbers;
  std::vector<bool> is_long;
};

std::string table_row(const Table& table, const TableLook& look, const ColumnLooks& looks,
                      std::size_t r) {
  std::string out = "<tr>";
  const Row& row = table.rows[r];
  for (const std::size_t c : columns_for(table, TableForm::people)) {
    const bool head = c == 0 && look.row_headers;
    const std::string text = row[c].shown();
    const std::string target = look.link ? look.link(r, c) : "";
    const std::string cell = target.empty() ? html_escaped(text) : html_link(text, target).markup;
    out += fmt::format(
        "<{0}{1}{2}>{3}</{0}>", head ? "th" : "td", head ? " scope=\"row\"" : "",
        cell_class(looks.numbers[c], look.mark ? look.mark(r, c) : "", head && looks.is_long[c]),
        cell);
  }
  return out + "</tr>\n";
}

}  // namespace

Page::Page(std::string_view title, std::string_view subtitle)
    : title_(title),
      subtitle_(subtitle),
      scripts_{std::string(embedded_page_js())},
      styles_{std::string(embedded_page_css())},
      ids_{"content", "contents"} {}

std::string Page::new_id(std::string_view text) {
  const std::string wanted = html_id(text);
  std::string id = wanted;
  for (int i = 2; !ids_.insert(id).second; ++i) id = fmt::format("{}-{}", wanted, i);
  return id;
}

std::string Page::taken(std::string_view given, std::string_view otherwise) {
  if (given.empty()) return new_id(otherwise);
  TS_EXPECTS(ids_.insert(std::string(given)).second, given);
  return std::string(given);
}

std::string Page::section(std::string_view heading, int level, std::string_view id) {
  TS_EXPECTS(2 <= level && level <= 4, level);
  headings_.push_back({level, taken(id, heading), std::string(heading)});
  body_ += fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, headings_.back().id,
                       html_escaped(heading));
  return headings_.back().id;
}

void Page::text(std::string_view paragraph) {
  text(html_prose(paragraph));
}

void Page::text(const Html& paragraph) {
  body_ += "<p>" + paragraph.markup + "</p>\n";
}

void Page::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += "<li>" + html_escaped(item) + "</li>\n";
  body_ += "</ul>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<dl>\n";
  for (const auto& [name, value] : facts)
    body_ += "<div><dt>" + html_escaped(name) + "</dt><dd>" + html_escaped(value) + "</dd></div>\n";
  body_ += "</dl>\n";
}

void Page::code(std::string_view lines) {
  // HTML drops the first newline of <pre>, so one is added.
  body_ += "<pre tabindex=\"0\">\n" + html_escaped(lines) + "</pre>\n";
}

std::string Page::table(const Table& table, const TableLook& look) {
  std::string id = taken(look.id, table.title.empty() ? "table" : table.title);
  const std::string caption = table.title.empty() ? "" : new_id(id + "-caption");
  body_ +=
      fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" {}>\n<table id=\"{}\"{}>\n",
                  caption.empty() ? "aria-label=\"Table\"" : "aria-labelledby=\"" + caption + "\"",
                  id, look.sortable ? " data-sortable" : "");
  if (!caption.empty())
    body_ += fmt::format("<caption id=\"{}\"><span>{}</span></caption>\n", caption,
                         html_escaped(table.title));
  body_ += "<thead><tr>";
  const ColumnLooks looks{number_columns(table), look.narrow
                                                     ? std::vector<bool>(table.columns.size())
                                                     : long_columns(table)};
  for (const std::size_t c : columns_for(table, TableForm::people))
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>",
                         cell_class(looks.numbers[c], "", looks.is_long[c]),
                         html_escaped(table.columns[c].title));
  body_ += "</tr></thead>\n<tbody>\n";
  const std::size_t shown =
      std::min(look.shown_max == 0 ? table.rows.size() : look.shown_max, people_rows(table));
  for (std::size_t r = 0; r < shown; ++r) body_ += table_row(table, look, looks, r);
  body_ += "</tbody>\n</table>\n</div>\n";
  if (shown < table.rows.size())
    body_ +=
        fmt::format("<p class=\"note\">The first {} of {} rows.</p>\n", shown, table.rows.size());
  for (const std::string& note : table.notes)
    body_ += "<p class=\"note\">" + html_prose(note).markup + "</p>\n";
  return id;
}

std::string Page::figure(const PageFigure& figure) {
  std::string id = taken(figure.id, figure.caption.empty() ? "figure" : figure.caption);
  const std::string& alt = figure.alt.empty() ? figure.caption : figure.alt;
  body_ += fmt::format(
      "<figure id=\"{}\">\n<div class=\"scroll drawing\" role=\"img\" tabindex=\"0\" "
      "aria-label=\"{}\">\n{}\n</div>\n",
      id, html_escaped(plain_prose(alt)), inline_svg(figure.svg, fmt::format("f{}-", ++figures_)));
  Html caption = html_prose(figure.caption);
  for (const auto& [name, path] : figure.files)
    caption.markup += (caption.markup.empty() ? "" : " ") + html_file_link(name, path).markup;
  if (!caption.markup.empty()) body_ += "<figcaption>" + caption.markup + "</figcaption>\n";
  body_ += "</figure>\n";
  return id;
}

void Page::begin_details(std::string_view summary, bool open) {
  ++open_details_;
  body_ += fmt::format("<details{}>\n<summary>{}</summary>\n", open ? " open" : "",
                       html_escaped(summary));
}

void Page::end_details() {
  TS_EXPECTS(open_details_ > 0, open_details_);
  --open_details_;
  body_ += "</details>\n";
}

void Page::markup(const Html& markup) {
  body_ += markup.markup;
}

void Page::data(std::string_view id, std::string_view json) {
  data_.push_back(fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n",
                              taken(id, "data"), json_for_script(json)));
}

void Page::script(std::string_view code) {
  TS_EXPECTS(code.find("</script") == std::string_view::npos, code.size());
  scripts_.emplace_back(code);
}

void Page::style(std::string_view css) {
  TS_EXPECTS(css.find("</style") == std::string_view::npos, css.size());
  styles_.emplace_back(css);
}

void Page::footer(std::string_view text) {
  footer_ = text;
}

std::string Page::navigation() const {
  if (headings_.size() < 2) return "";
  std::string out = "<nav id=\"contents\" aria-label=\"Contents\">\n<ul>\n";
  bool inner = false;  // true within the list of a level-2 heading
  bool item = false;   // an <li> of level 2 is open
  for (const Heading& heading : headings_) {
    if (heading.level > 3) continue;
    const bool deeper = heading.level == 3 && item;
    if (deeper && !inner) out += "\n<ul>\n";
    if (!deeper && inner) out += "</ul>\n";
    if (!deeper && item) out += "</li>\n";
    inner = deeper;
    item = true;
    out += "<li>" + html_link(heading.text, heading.id).markup + (deeper ? "</li>\n" : "");
  }
  return out + (inner ? "</ul>\n" : "") + "</li>\n</ul>\n</nav>\n";
}

std::string Page::html() const {
  TS_EXPECTS(open_details_ == 0, open_details_);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n",
      policy(scripts_, styles_), html_escaped(title_));
  for (const std::string& style : styles_) out += "<style>" + style + "</style>\n";
  out += "</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n";
  out += "<header>\n<div>\n<h1>" + html_escaped(title_) + "</h1>\n";
  if (!subtitle_.empty()) out += "<p>" + html_escaped(subtitle_) + "</p>\n";
  out += "</div>\n</header>\n<div class=\"columns\">\n" + navigation();
  out += "<main id=\"content\" tabindex=\"-1\">\n" + body_ + "</main>\n</div>\n";
  if (!footer_.empty()) out += "<footer><p>" + html_escaped(footer_) + "</p></footer>\n";
  for (const std::string& data : data_) out += data;
  for (const std::string& script : scripts_) out += "<script>" + script + "</script>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace tiersim
