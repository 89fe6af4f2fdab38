#include "sim/base/table.hpp"

#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

void Table::add(std::vector<std::string> row) {
  TS_EXPECTS(row.size() == columns.size(), row.size(), columns.size());
  rows.push_back(std::move(row));
}

}  // namespace tiersim
