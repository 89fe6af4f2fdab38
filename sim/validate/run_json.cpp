#include "sim/validate/run_json.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

constexpr int kDeepest = 32;  // nested objects
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Replaces Infinity and NaN, which Python's json module writes although JSON has no such numbers.
// The text keeps its length, so that the lines and columns of mistakes stay right.
std::string without_special_numbers(std::string_view text) {
  std::string out(text);
  bool quoted = false;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (quoted && out[at] == '\\') {
      ++at;
    } else if (out[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && out.compare(at, 3, "NaN") == 0) {
      out.replace(at, 3, "\"\" ");
      at += 2;
    } else if (!quoted && out.compare(at, 8, "Infinity") == 0) {
      out.replace(at, 8, "\"inf\"   ");
      at += 7;
    }
  }
  return out;
}

class JsonRows {
 public:
  JsonRows(const std::string& file, const std::vector<std::string>& columns,
           Diagnostics& diagnostics)
      : file_(file), columns_(columns), diagnostics_(diagnostics) {}

  detail::CsvTable read(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text_ = without_special_numbers(text);
    auto whole = nlohmann::json::parse(text_, nullptr, false, false);
    if (!whole.is_discarded())
      add_all(whole);
    else
      add_lines();
    if (rows_.empty() && !failed_) fail(0, "holds no result, which is an object");
    return table();
  }

 private:
  using Cells = std::map<std::string, std::string>;

  void fail(std::size_t byte, std::string message) {
    failed_ = true;
    const std::string_view before = std::string_view(text_).substr(0, byte);
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
    diagnostics_.report({{file_, line_of(byte), static_cast<int>(column) + 1}, std::move(message)});
  }

  int line_of(std::size_t byte) const {
    return static_cast<int>(std::ranges::count(std::string_view(text_).substr(0, byte), '\n')) + 1;
  }

  void add_all(const nlohmann::json& whole) {
    const std::size_t first = text_.find_first_of("{[");
    if (!whole.is_array()) {
      add(whole, first);
      return;
    }
    for (std::size_t i = 0; i < whole.size() && !failed_; ++i) add(whole[i], first);
  }

  void add_lines() {
    for (std::size_t begin = 0; begin < text_.size() && !failed_;) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line = std::string_view(text_).substr(begin, end - begin);
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) add_line(line, begin);
      begin = end + 1;
    }
  }

  void add_line(std::string_view line, std::size_t begin) {
    try {
      add(nlohmann::json::parse(line), begin);
    } catch (const nlohmann::json::parse_error& error) {
      fail(begin + (error.byte > 0 ? error.byte - 1 : 0), "is no JSON from here on");
    }
  }

  void add(const nlohmann::json& object, std::size_t byte) {
    if (!object.is_object()) {
      fail(byte, "holds something that is no result, which is an object");
      return;
    }
    rows_.push_back({line_of(byte), {}});
    if (!add_cells(object, "", kDeepest, rows_.back().second))
      fail(byte, fmt::format("has objects that are nested more than {} deep", kDeepest));
  }

  // False where objects are nested too deep.
  bool add_cells(const nlohmann::json& object, const std::string& path, int deeper, Cells& cells) {
    if (deeper == 0) return false;
    for (const auto& [key, value] : object.items()) {
      const std::string name = path.empty() ? key : fmt::format("{}.{}", path, key);
      if (value.is_object() && !add_cells(value, name, deeper - 1, cells)) return false;
      if (std::ranges::find(columns_, name) == columns_.end()) continue;
      if (value.is_string())
        cells[name] = value.get<std::string>();
      else if (value.is_number() || value.is_boolean())
        cells[name] = value.dump();
    }
    return true;
  }

  detail::CsvTable table() const {
    detail::CsvTable out;
    for (const std::string& column : columns_)
      if (std::ranges::any_of(rows_, [&](const auto& row) { return row.second.contains(column); }))
        out.header.cells.push_back({column});
    for (const auto& [line, cells] : rows_) {
      out.rows.push_back({line, {}});
      for (const detail::CsvCell& column : out.header.cells) {
        const auto found = cells.find(column.text);
        out.rows.back().cells.push_back({found == cells.end() ? "" : found->second});
      }
    }
    return out;
  }

  const std::string& file_;
  const std::vector<std::string>& columns_;
  Diagnostics& diagnostics_;
  std::string text_;
  std::vector<std::pair<int, Cells>> rows_;
  bool failed_ = false;
};

}  // namespace

bool looks_like_json(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

detail::CsvTable table_of_json(const std::string& file, std::string_view text,
                               const std::vector<std::string>& columns, Diagnostics& diagnostics) {
  try {
    return JsonRows(file, columns, diagnostics).read(text);
  } catch (const nlohmann::json::out_of_range&) {
    diagnostics.report({{file, 1, 1}, "holds a number beyond 1.8e308"});
  }
  return {};
}

}  // namespace tiersim
