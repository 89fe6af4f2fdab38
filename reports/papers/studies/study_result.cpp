#include "reports/papers/studies/study_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

const RunRecord* first_record(const StudyResult& result) {
  for (const StudyRow& row : result.rows)
    if (row.record) return row.record.get();
  return nullptr;
}

StudyColumn column_in(const StudyResult& result, const std::string& name) {
  for (const StudyRow& row : result.rows)
    if (row.record && row.record->metrics.contains(name)) return column_of(name, row.record.get());
  return column_of(name, first_record(result));
}

// Short text for the first column; the whole problem is below the table.
std::string short_problem(const StudyRow& row) {
  return row.problem.find("fit") != std::string::npos ? "no fit" : "cannot run";
}

std::vector<std::string> notes_of(const StudyResult& result) {
  std::vector<std::string> notes = result.study.notes;
  if (const std::string number_class = result.number_class(); !number_class.empty())
    notes.push_back("class of the numbers: " + number_class);
  return notes;
}

Table axis_columns(const StudyResult& result) {
  Table table{.title = heading(result.study)};
  for (const StudyAxis& axis : result.study.axes)
    table.columns.push_back({axis.name, axis.variants.empty() ? Align::right : Align::left});
  return table;
}

Table whole_table(const StudyResult& result) {
  Table table = axis_columns(result);
  const std::vector<StudyColumn> columns = result.columns();
  for (const StudyColumn& column : columns)
    table.columns.push_back({column.title, column.unit.empty() && column.name != "max_batch"
                                               ? Align::left
                                               : Align::right});
  table.notes = notes_of(result);
  for (const StudyRow& row : result.rows) {
    std::vector<std::string> cells = row.point.labels;
    for (const StudyColumn& column : columns)
      cells.push_back(row.record ? shown(cell_of(column.name, *row.record), column) : "-");
    if (!row.record) {
      cells[row.point.labels.size()] = short_problem(row);
      table.notes.push_back(join(row.point.labels, ", ") + ": " + row.problem);
    }
    table.add(std::move(cells));
  }
  return table;
}

std::vector<std::string> labels_of(const StudyResult& result, std::size_t axis) {
  std::vector<std::string> out;
  for (const StudyRow& row : result.rows)
    if (std::ranges::find(out, row.point.labels[axis]) == out.end())
      out.push_back(row.point.labels[axis]);
  return out;
}

// First axis in rows and second axis in columns, with one column of the study in the cells.
Table pivot_table(const StudyResult& result, const std::string& name) {
  const StudyColumn column = column_in(result, name);
  const auto& axes = result.study.axes;
  Table table{.title = fmt::format("{}: {} by {} and {}", heading(result.study), column.title,
                                   axes[0].name, axes[1].name)};
  table.columns.push_back({axes[0].name, Align::left});
  const std::vector<std::string> across = labels_of(result, 1);
  for (const std::string& label : across) table.columns.push_back({label, Align::right});
  for (std::size_t i = 0; i < result.rows.size(); i += across.size()) {
    std::vector<std::string> cells{result.rows[i].point.labels[0]};
    for (std::size_t j = i; j < i + across.size(); ++j) {
      const StudyRow& row = result.rows[j];
      cells.push_back(row.record ? shown(cell_of(name, *row.record), column) : short_problem(row));
    }
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

std::string heading(const Study& study) {
  return study.where.empty() ? study.title : study.where + ": " + study.title;
}

std::vector<StudyColumn> StudyResult::columns() const {
  // Parts that only some steps have are left out where none of these steps has them.
  const auto never = [&](const std::string& name) {
    if (!name.ends_with(".collective") && !name.ends_with(".host")) return false;
    if (std::ranges::find(study.columns, name) != study.columns.end()) return false;
    return std::ranges::none_of(rows, [&](const StudyRow& row) {
      if (!row.record) return false;
      const Cell cell = cell_of(name, *row.record);
      const auto* value = std::get_if<double>(&cell);
      return value != nullptr && *value > 0;
    });
  };
  std::vector<StudyColumn> out;
  for (const std::string& name : expanded(study.columns))
    if (!never(name)) out.push_back(column_in(*this, name));
  return out;
}

std::string StudyResult::number_class() const {
  bool any = false;
  NumberClass weak = NumberClass::measured;
  for (const StudyRow& row : rows) {
    if (!row.record) continue;
    for (const std::string& name : expanded(study.columns)) {
      const bool time = name.starts_with("split.") || name.starts_with("share.");
      const auto it = row.record->metrics.find(time ? "step_time_s" : name);
      if (it == row.record->metrics.end()) continue;
      any = true;
      weak = weakest(weak, it->second.number_class);
    }
  }
  return any ? std::string(name(weak)) : "";
}

std::vector<Table> tables_of(const StudyResult& result, Shown shown) {
  if (shown == Shown::all || result.study.pivot.empty()) return {whole_table(result)};
  std::vector<Table> tables;
  for (const std::string& name : result.study.pivot) tables.push_back(pivot_table(result, name));
  tables.back().notes = notes_of(result);
  return tables;
}

Table raw_table(const StudyResult& result) {
  Table table = axis_columns(result);
  const std::vector<StudyColumn> columns = result.columns();
  for (const StudyColumn& column : columns) table.columns.push_back({column.name});
  table.columns.push_back({"problem", Align::left});
  for (const StudyRow& row : result.rows) {
    std::vector<std::string> cells = row.point.labels;
    for (const StudyColumn& column : columns)
      cells.push_back(row.record ? raw(cell_of(column.name, *row.record)) : "");
    cells.push_back(row.problem);
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace tiersim
