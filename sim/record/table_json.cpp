#include "sim/record/table_json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson rows_of(const Table& table, std::span<const std::string_view> keys);

struct JsonOfCell {
  OrderedJson operator()(std::monostate) const { return nullptr; }
  OrderedJson operator()(Cell::Absent) const { return nullptr; }
  OrderedJson operator()(const std::shared_ptr<const Table>& table) const {
    return rows_of(*table, {});
  }
  template <class Value>
  OrderedJson operator()(const Value& value) const {
    return OrderedJson(value);
  }
};

std::size_t column_of_key(const Table& table, std::string_view key) {
  const auto it = std::ranges::find(table.columns, key, json_key);
  TS_EXPECTS(it != table.columns.end(), key);
  return static_cast<std::size_t>(it - table.columns.begin());
}

OrderedJson rows_of(const Table& table, std::span<const std::string_view> keys) {
  std::vector<std::size_t> columns = columns_for(table, TableForm::json);
  if (!keys.empty()) columns.clear();
  for (const std::string_view key : keys) columns.push_back(column_of_key(table, key));
  OrderedJson rows = OrderedJson::array();
  for (const Row& row : table.rows) {
    OrderedJson& object = rows.emplace_back(OrderedJson::object());
    for (const std::size_t c : columns) {
      if (std::holds_alternative<Cell::Absent>(row[c].value())) continue;
      const Column& column = table.columns[c];
      OrderedJson& holder = column.within.empty() ? object : object[column.within];
      holder[json_key(column)] = std::visit(JsonOfCell{}, row[c].value());
    }
  }
  return rows;
}

}  // namespace

std::string to_json(const Table& table, std::span<const std::string_view> keys, int indent) {
  return rows_of(table, keys).dump(indent);
}

}  // namespace tiersim
