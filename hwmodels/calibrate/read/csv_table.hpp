#pragma once
// A text of comma-separated values as cells with their places. For read_csv.cpp.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace tiersim::detail {

struct CsvCell {
  std::string text;  ///< without quotes and blanks around it
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
  CsvRow header;                     ///< empty where there is none
  std::vector<CsvRow> rows;          ///< each as long as the header
};

CsvTable read_csv_table(const std::string& file, std::string_view text, Diagnostics& diagnostics);

}  // namespace tiersim::detail
