#pragma once
// Printed cells against simulated ones. Knows how a quantity is taken from records; knows no paper.
#include <string>
#include <string_view>
#include <vector>

#include "reports/reproduce/targets.hpp"
#include "sim/run/run_record.hpp"

namespace tiersim {

/// A quantity of a printed table: from a row's record and its baseline's.
struct TableQuantity {
  std::string_view name;
  std::string_view unit;
  double (*of)(const RunRecord& row, const RunRecord& baseline);
  int decimals;  ///< digits that the papers print after the point
};
/// nullptr when there is none of that name.
const TableQuantity* find_quantity(std::string_view name);
/// "footprint, overhead, ..."
std::string quantity_names();

/// One compared cell, with the names of `reproduce --json`.
struct TargetResult {
  std::string id;
  std::string reading;
  double paper = 0;
  double simulated = 0;
  std::string unit;
  double tolerance = 0;  ///< half of the last printed digit
  std::string status;  ///< "pass", "fail", "rule", "shape" for what a figure shows; "explained" or
                       ///< "unexplained" for what the paper leaves open, which nothing is held to
  std::string why;
};

/// The comparison holds: `pass`, `rule` with the rule's value met, or `shape`.
bool holds(const TargetResult& result);

/// All cells of one row, in the order of the quantities above.
std::vector<TargetResult> compare(const TargetRow& row, const RunRecord& record,
                                  const RunRecord& baseline);

}  // namespace tiersim
