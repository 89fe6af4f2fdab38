#pragma once
// A table has six output formats. People get aligned text for a terminal, Markdown, LaTeX
// (booktabs) and HTML (reports/html/page.hpp), with cells as they are shown; programs get CSV (RFC
// 4180) and JSON (sim/record/table_json.hpp), with their values. Columns of the other readers are
// left out. What people get has no character that a terminal would obey, and a cell of CSV that a
// spreadsheet would take for a formula begins with an apostrophe.
#include <string>
#include <string_view>

#include "sim/base/table.hpp"

namespace tiersim {

std::string to_text(const Table& table);
std::string to_markdown(const Table& table);
std::string to_csv(const Table& table);
/// A `table` environment; needs \usepackage{booktabs}. The notes stand below the rows. The label is
/// "tab:" and the id of the table, or the words of its title: "tab:ttft-by-rate".
std::string to_latex(const Table& table);

/// Number of terminal columns of UTF-8 text, for alignment.
std::size_t display_width(std::string_view utf8);

}  // namespace tiersim
