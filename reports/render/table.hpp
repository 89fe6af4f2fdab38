#pragma once
// A table in five formats: aligned text for a terminal, Markdown, CSV (RFC 4180), LaTeX (booktabs)
// and rows for JSON. Cells are text, rounded already.
#include <string>
#include <string_view>

#include "sim/base/table.hpp"

namespace tiersim {

std::string to_text(const Table& table);
std::string to_markdown(const Table& table);
std::string to_csv(const Table& table);
/// A `table` environment; needs \usepackage{booktabs}.
std::string to_latex(const Table& table);

/// Number of terminal columns of UTF-8 text, for alignment.
std::size_t display_width(std::string_view utf8);

}  // namespace tiersim
