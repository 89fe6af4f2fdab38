#pragma once
// A part of a paper's report that is made by itself: its tables, what they are held to, its figures
// and its rows for programs. The report prints sections in their order and knows none of them.
#include <string>
#include <vector>

#include "reports/papers/reproduce/target_result.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// A file of a report.
struct ReportFile {
  std::string name;
  std::string text;
};

struct SectionTable {
  std::string stem;     ///< file name without extension
  Table shown;          ///< for people
  Table raw;            ///< every row, unrounded, in base units; without columns: as shown
  bool digest = false;  ///< stands on the terminal without --full
};

struct ReportSection {
  std::string id;  ///< "tpla.decode_speedup_32k"
  std::vector<SectionTable> tables = {};
  std::vector<TargetResult> results = {};
  std::vector<ReportFile> figures = {};
  std::string json = {};  ///< one JSON value: its rows for programs
};

}  // namespace tiersim
