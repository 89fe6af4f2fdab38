#pragma once
// Comma-separated values as cells with their line and column, for read_csv.cpp.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace tiersim::detail {

struct CsvCell {
  std::string text;  ///< without quotes and surrounding blanks
  int column = 1;    ///< in its line, in bytes
};

struct CsvRow {
  int line = 1;
  std::vector<CsvCell> cells;
};

struct CsvSetting {
  int line = 1;
  std::string key;
  std::string value;
};

struct CsvTable {
  std::vector<CsvSetting> settings;  ///< lines "# key: value"
  CsvRow header;                     ///< empty where the file has none
  std::vector<CsvRow> rows;          ///< each with as many cells as the header
};

/// Where `header_has` is a column's name, lines before the header that has it are talk, and a blank
/// line ends the table. A header is missing, with its mistake reported, where cells are not
/// separated by commas.
CsvTable read_csv_table(const std::string& file, std::string_view text, Diagnostics& diagnostics,
                        std::string_view header_has = {});

}  // namespace tiersim::detail
