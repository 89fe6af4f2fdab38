#include "sim/validate/run_json.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Cells = std::map<std::string, std::string>;

// Whitespace at a cell's ends is not kept by the reader of tables either.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + '"';
}

void add_cells(const nlohmann::json& value, const std::string& path, Cells& cells) {
  if (value.is_object()) {
    for (const auto& [key, below] : value.items())
      add_cells(below, path.empty() ? key : path + '.' + key, cells);
  } else if (value.is_string()) {
    cells[path] = value.get<std::string>();
  } else if (value.is_number() || value.is_boolean()) {
    cells[path] = value.dump();
  }
}

std::string table_of(const std::vector<Cells>& rows) {
  std::vector<std::string> columns;
  for (const Cells& row : rows)
    for (const auto& [column, text] : row)
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  std::string out;
  for (const std::string& column : columns) out += (out.empty() ? "" : ",") + quoted(column);
  for (const Cells& row : rows) {
    out += '\n';
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto found = row.find(columns[i]);
      out += (i == 0 ? "" : ",") + (found == row.end() ? "" : quoted(found->second));
    }
  }
  return out + '\n';
}

Diagnostics mistake(const std::string& file, std::string_view text, std::size_t byte,
                    std::string message) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
  Diagnostics out;
  out.report({{file, line, static_cast<int>(column) + 1}, std::move(message)});
  return out;
}

}  // namespace

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Expected<std::string, Diagnostics> csv_of_json(const std::string& file, std::string_view text) {
  std::vector<Cells> rows;
  const auto add = [&](const nlohmann::json& object) {
    rows.emplace_back();
    add_cells(object, "", rows.back());
  };
  std::size_t begin = 0;  // of a line that holds an object, or 0
  try {
    const nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
    if (!whole.is_discarded()) {
      if (whole.is_object())
        add(whole);
      else
        for (const auto& each : whole) add(each);
    } else {
      while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        if (line.find_first_not_of(" \t\r") != std::string_view::npos)
          add(nlohmann::json::parse(line));
        begin = end + 1;
      }
    }
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t at = begin + (error.byte > 0 ? error.byte - 1 : 0);
    return Unexpected(mistake(file, text, at, "is no JSON from here on"));
  }
  return table_of(rows);
}

}  // namespace tiersim
