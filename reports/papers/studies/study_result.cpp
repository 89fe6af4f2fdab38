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

Column column_in(const StudyResult& result, const std::string& name) {
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

std::vector<std::string> labels_of(const StudyResult& result, std::size_t axis) {
  std::vector<std::string> out;
  for (const StudyRow& row : result.rows)
    if (std::ranges::find(out, row.point.labels[axis]) == out.end())
      out.push_back(row.point.labels[axis]);
  return out;
}

// First axis in rows and second axis in columns, with one column of the study in the cells.
Table pivot_table(const StudyResult& result, const std::string& name) {
  const Column column = column_in(result, name);
  const auto& axes = result.study.axes;
  Table table{.title = fmt::format("{}: {} by {} and {}", heading(result.study), column.title,
                                   axes[0].name, axes[1].name),
              .readers = Readers::people};
  table.columns.push_back({axes[0].name, Align::left});
  const std::vector<std::string> across = labels_of(result, 1);
  for (const std::string& label : across) table.columns.push_back({label, Align::right});
  for (std::size_t i = 0; i < result.rows.size(); i += across.size()) {
    Row cells{result.rows[i].point.labels[0]};
    for (std::size_t j = i; j < i + across.size(); ++j) {
      const StudyRow& row = result.rows[j];
      cells.push_back(row.record ? cell_of(column, *row.record) : Cell({}, short_problem(row)));
    }
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

std::string heading(const Study& study) {
  return study.where.empty() ? study.title : study.where + ": " + study.title;
}

std::vector<Column> StudyResult::columns() const {
  // Parts that only some steps have are left out where none of these steps has them.
  const auto never = [&](const std::string& name) {
    if (!name.ends_with(".collective") && !name.ends_with(".host")) return false;
    if (std::ranges::find(study.columns, name) != study.columns.end()) return false;
    return std::ranges::none_of(rows, [&](const StudyRow& row) {
      if (!row.record) return false;
      return cell_of(name, *row.record).number().value_or(0) > 0;
    });
  };
  std::vector<Column> out;
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

Table table_of(const StudyResult& result) {
  Table table{.title = heading(result.study), .notes = notes_of(result)};
  for (const StudyAxis& axis : result.study.axes)
    table.columns.push_back({axis.name, axis.variants.empty() ? Align::right : Align::left});
  const std::vector<Column> columns = result.columns();
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  table.columns.push_back({.title = "problem", .readers = Readers::programs});
  table.columns.push_back({.title = "run_id", .readers = Readers::json});
  for (const StudyRow& row : result.rows) {
    const std::vector<std::string>& labels = row.point.labels;
    Row cells(labels.begin(), labels.end());
    for (const Column& column : columns)
      cells.push_back(row.record ? cell_of(column, *row.record) : Cell(Cell::Absent{}, "-"));
    if (row.record) {
      cells.insert(cells.end(), {Cell::Absent{}, row.record->run_id});
    } else {
      cells[labels.size()] = Cell(Cell::Absent{}, short_problem(row));
      cells.insert(cells.end(), {row.problem, Cell::Absent{}});
      table.notes.push_back(join(labels, ", ") + ": " + row.problem);
    }
    table.add(std::move(cells));
  }
  return table;
}

std::vector<Table> tables_of(const StudyResult& result, Shown shown) {
  if (shown == Shown::all || result.study.pivot.empty()) return {table_of(result)};
  std::vector<Table> tables;
  for (const std::string& name : result.study.pivot) tables.push_back(pivot_table(result, name));
  tables.back().notes = notes_of(result);
  return tables;
}

}  // namespace tiersim
