#pragma once
// Printed cells against simulated ones. It computes quantities from records and depends on no
// paper.
#include <string>
#include <string_view>
#include <vector>

#include "reports/papers/reproduce/target_result.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// A quantity of a printed table, computed from the record of a row and the record of its baseline.
struct TableQuantity {
  std::string_view name;
  std::string_view unit;
  double (*of)(const RunRecord& row, const RunRecord& baseline);
  int decimals;  ///< digits that the papers print after the point
};
/// nullptr where there is no quantity of that name.
const TableQuantity* find_quantity(std::string_view name);
/// "footprint, overhead, ..."
std::string quantity_names();

/// All cells of one row, in the order of quantity_names().
std::vector<TargetResult> compare(const TargetRow& row, const RunRecord& record,
                                  const RunRecord& baseline);

}  // namespace tiersim
