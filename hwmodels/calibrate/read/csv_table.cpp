#include "hwmodels/calibrate/read/csv_table.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_text.hpp"

namespace tiersim::detail {
namespace {

// The cells of a line. Empty, with the column of the quote in `bad`, where a quote is left open or
// text follows it.
std::optional<std::vector<CsvCell>> split(std::string_view line, std::size_t& bad) {
  std::vector<CsvCell> out;
  std::size_t at = 0;
  while (true) {
    CsvCell cell;
    const std::size_t blanks = line.find_first_not_of(" \t", at);
    cell.column = static_cast<int>(at) + 1;
    if (blanks != std::string_view::npos && line[blanks] == '"') {
      bad = blanks;
      at = blanks + 1;
      while (true) {
        const std::size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) return std::nullopt;
        cell.text += line.substr(at, quote - at);
        at = quote + 1;
        if (at >= line.size() || line[at] != '"') break;
        cell.text += '"';
        ++at;
      }
      const std::size_t comma = std::min(line.find(',', at), line.size());
      if (!trimmed(line.substr(at, comma - at)).empty()) return std::nullopt;
      at = comma;
    } else {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      cell.text = trimmed(line.substr(at, comma - at));
      at = comma;
    }
    out.push_back(std::move(cell));
    if (at >= line.size()) return out;
    ++at;
  }
}

// The separator of a line without commas that must be a header; 0 where there is none.
char other_separator(std::string_view line) {
  if (line.find(',') != std::string_view::npos) return 0;
  for (const char separator : {';', '\t', '|'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return 0;
}

class TableReader {
 public:
  TableReader(const std::string& file, Diagnostics& diagnostics, std::string_view header_has)
      : file_(file), diagnostics_(diagnostics), header_has_(header_has) {}

  CsvTable read(std::string_view text) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      number_ = 1;
      fail(1, "this file is UTF-16", "save it as UTF-8");
      return {};
    }
    for (const std::string_view line : lines_of(text)) {
      ++number_;
      const bool ends = trimmed(line).empty() && !header_has_.empty();
      if (ends && !table_.header.cells.empty()) break;
      if (!trimmed(line).empty() && !take(line)) return {};
    }
    return std::move(table_);
  }

 private:
  void fail(std::size_t column, std::string message, std::string hint = {}) {
    Diagnostic mistake;
    mistake.where = {file_, number_, static_cast<int>(column)};
    mistake.message = std::move(message);
    mistake.hint = std::move(hint);
    diagnostics_.report(std::move(mistake));
  }

  // False where the rest of the file cannot be read.
  bool take(std::string_view line) {
    if (line.starts_with('#')) {
      const auto setting = comment_setting(line);
      if (setting) table_.settings.push_back({number_, setting->first, setting->second});
      return true;
    }
    const bool first = table_.header.cells.empty();
    std::size_t bad = 0;
    auto cells = split(line, bad);
    if (first && !header_has_.empty() &&
        (!cells || std::ranges::find(*cells, header_has_, &CsvCell::text) == cells->end()))
      return true;
    if (!cells) {
      fail(bad + 1, "a quote is left open, or has text behind it");
      return true;
    }
    const char separator = first ? other_separator(line) : '\0';
    if (separator != 0) {
      const std::string shown = separator == '\t' ? "tabs" : fmt::format("'{}'", separator);
      fail(line.find(separator) + 1, "cells are separated by " + shown,
           "separate them by ',', with '.' in numbers");
      return false;
    }
    if (first)
      table_.header = {number_, std::move(*cells)};
    else if (cells->size() != table_.header.cells.size())
      fail(1, fmt::format("{} cells, but the header has {}", cells->size(),
                          table_.header.cells.size()));
    else
      table_.rows.push_back({number_, std::move(*cells)});
    return true;
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  std::string_view header_has_;
  CsvTable table_;
  int number_ = 0;
};

}  // namespace

CsvTable read_csv_table(const std::string& file, std::string_view text, Diagnostics& diagnostics,
                        std::string_view header_has) {
  return TableReader(file, diagnostics, header_has).read(text);
}

}  // namespace tiersim::detail
