#pragma once
// A self-contained part of a paper's report: its tables, results, figures and rows for programs.
// The report prints sections in order and does not depend on their kinds.
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
  Table raw;            ///< every row, unrounded, in base units; without columns: equal to `shown`
  bool digest = false;  ///< on the terminal without --full
};

struct ReportSection {
  std::string id;  ///< "tpla.decode_speedup_32k"
  std::vector<SectionTable> tables = {};
  std::vector<TargetResult> results = {};
  std::vector<ReportFile> figures = {};
  std::string json = {};  ///< one JSON value: its rows for programs
};

}  // namespace tiersim
