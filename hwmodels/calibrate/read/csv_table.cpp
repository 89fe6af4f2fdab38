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

}  // namespace

CsvTable read_csv_table(const std::string& file, std::string_view text, Diagnostics& diagnostics) {
  CsvTable table;
  int number = 0;
  const auto fail = [&](std::size_t column, std::string message) {
    Diagnostic mistake;
    mistake.where = {file, number, static_cast<int>(column)};
    mistake.message = std::move(message);
    diagnostics.report(std::move(mistake));
  };
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (trimmed(line).empty()) continue;
    if (line.starts_with('#')) {
      const auto setting = comment_setting(line);
      if (setting) table.settings.push_back({number, setting->first, setting->second});
      continue;
    }
    std::size_t bad = 0;
    auto cells = split(line, bad);
    if (!cells) {
      fail(bad + 1, "a quote is left open, or has text behind it");
      continue;
    }
    if (table.header.cells.empty()) {
      table.header = {number, std::move(*cells)};
    } else if (cells->size() != table.header.cells.size()) {
      fail(1, fmt::format("{} cells, but the header has {}", cells->size(),
                          table.header.cells.size()));
    } else {
      table.rows.push_back({number, std::move(*cells)});
    }
  }
  return table;
}

}  // namespace tiersim::detail
