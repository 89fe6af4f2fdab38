#pragma once
// A self-contained part of a paper's report: its tables, results, figures and rows for programs.
// The report prints sections in order and does not depend on their kinds.
#include <string>
#include <utility>
#include <vector>

#include "reports/papers/reproduce/target_result.hpp"
#include "reports/render/report_file.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// The id of a table is the name of its files. Where the table for people is no list of rows,
/// another table of the same id is for programs.
struct SectionTable {
  Table table;
  bool digest = false;  ///< on the terminal without --full
};

struct ReportSection {
  std::string id;  ///< "tpla.decode_speedup_32k"
  std::vector<SectionTable> tables = {};
  std::vector<TargetResult> results = {};
  std::vector<ReportFile> figures = {};
  std::string json = {};  ///< one JSON value: its rows for programs

  void add(std::string table_id, Table table, bool digest = false) {
    table.id = std::move(table_id);
    tables.push_back({std::move(table), digest});
  }
};

}  // namespace tiersim
