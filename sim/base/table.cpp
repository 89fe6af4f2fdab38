#include "sim/base/table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

struct ExactText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(Cell::Absent) const { return ""; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::int64_t whole) const { return std::to_string(whole); }
  std::string operator()(double number) const { return fmt::format("{}", number); }
  std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
  std::string operator()(const std::vector<std::string>& texts) const { return join(texts); }
  std::string operator()(const std::shared_ptr<const Table>&) const { return ""; }
};

}  // namespace

Cell::Cell() = default;
Cell::Cell(const Cell& other) = default;
Cell::Cell(Cell&& other) noexcept = default;
Cell& Cell::operator=(const Cell& other) = default;
Cell& Cell::operator=(Cell&& other) noexcept = default;
Cell::~Cell() = default;

Cell Cell::quantity(double value, std::string_view unit) {
  return {value, display(value, unit)};
}

std::optional<double> Cell::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  return std::nullopt;
}

std::string Cell::shown() const {
  if (shown_) return *shown_;
  if (const auto* number = std::get_if<double>(&value_)) return fmt::format("{:.4g}", *number);
  return exact();
}

std::string Cell::exact() const {
  return std::visit(ExactText{}, value_);
}

std::vector<std::string> shown_texts(const Row& row) {
  std::vector<std::string> out;
  for (const Cell& cell : row) out.push_back(cell.shown());
  return out;
}

std::vector<Column> columns_by_cells(std::initializer_list<std::string> titles) {
  std::vector<Column> out;
  for (const std::string& title : titles) out.push_back({title, Align::by_cells});
  return out;
}

bool is_for(Readers readers, TableForm form) {
  switch (readers) {
    case Readers::everyone:
      return true;
    case Readers::people:
      return form == TableForm::people;
    case Readers::programs:
      return form != TableForm::people;
    case Readers::csv:
      return form == TableForm::csv;
    case Readers::json:
      return form == TableForm::json;
  }
  return false;
}

std::vector<std::size_t> columns_for(const Table& table, TableForm form) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (is_for(table.columns[c].readers, form)) out.push_back(c);
  return out;
}

std::size_t people_rows(const Table& table) {
  return std::min(table.people_rows.value_or(table.rows.size()), table.rows.size());
}

Align alignment(const Table& table, std::size_t column) {
  const Align given = table.columns[column].align;
  if (given != Align::by_cells) return given;
  const bool text = std::ranges::any_of(table.rows, [&](const Row& row) {
    return std::holds_alternative<std::string>(row[column].value());
  });
  return text ? Align::left : Align::right;
}

const std::string& json_key(const Column& column) {
  return column.key.empty() ? column.title : column.key;
}

const std::string& csv_head(const Column& column) {
  return column.csv.empty() ? json_key(column) : column.csv;
}

Cell nested(Table table, std::string shown) {
  return {std::make_shared<const Table>(std::move(table)), std::move(shown)};
}

void Table::add(Row row) {
  TS_EXPECTS(row.size() == columns.size(), row.size(), columns.size());
  rows.push_back(std::move(row));
}

}  // namespace tiersim
