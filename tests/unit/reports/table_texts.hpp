#pragma once
// Rows of tables as texts: as people read them, and as CSV has them.
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "sim/base/table.hpp"

namespace tiersim::testing {

using Texts = std::vector<std::vector<std::string>>;

inline Texts shown(const Table& table) {
  Texts out;
  for (std::size_t r = 0; r < people_rows(table); ++r) {
    auto& row = out.emplace_back();
    for (const std::size_t c : columns_for(table, TableForm::people))
      row.push_back(table.rows[r][c].shown());
  }
  return out;
}

inline Texts exact(const Table& table) {
  Texts out;
  for (const Row& cells : table.rows) {
    auto& row = out.emplace_back();
    for (const std::size_t c : columns_for(table, TableForm::csv)) row.push_back(cells[c].exact());
  }
  return out;
}

inline std::vector<std::string> heads(const Table& table, TableForm form) {
  std::vector<std::string> out;
  for (const std::size_t c : columns_for(table, form))
    out.push_back(form == TableForm::csv ? csv_head(table.columns[c]) : table.columns[c].title);
  return out;
}

inline std::vector<Table> tables_for(const std::vector<Table>& tables, TableForm form) {
  std::vector<Table> out;
  for (const Table& table : tables)
    if (is_for(table.readers, form)) out.push_back(table);
  return out;
}

/// The table of a section with this id that a form has.
inline Table section_table(const ReportSection& section, const std::string& id,
                           TableForm form = TableForm::people) {
  for (const SectionTable& one : section.tables)
    if (one.table.id == id && is_for(one.table.readers, form)) return one.table;
  throw std::runtime_error("no table " + id);
}

}  // namespace tiersim::testing
