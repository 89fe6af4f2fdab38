#pragma once
// The result of a study: its records, the tables that show them and the results of its checks.
#include <memory>
#include <string>
#include <vector>

#include "reports/papers/reproduce/compare.hpp"
#include "reports/papers/studies/columns.hpp"
#include "reports/papers/studies/study.hpp"
#include "sim/base/table.hpp"

namespace tiersim {

struct StudyRow {
  StudyPoint point;
  std::shared_ptr<const RunRecord> record;  ///< null where the point cannot run
  std::string problem = {};                 ///< the reason in one line
};

struct StudyResult {
  Study study;
  std::vector<StudyRow> rows;  ///< in the order of points_of()

  /// The columns with `split` and `shares` expanded. The parts for collectives and host are left
  /// out where no point has any.
  std::vector<Column> columns() const;
  /// Weakest class among the shown metrics: "assumed"; empty where none is shown.
  std::string number_class() const;
};

/// "Figure 1 left: where a step goes".
std::string heading(const Study& study);

/// Extent of the tables of a study.
enum class Shown : std::uint8_t { summary, all };

/// The table of all points.
Table table_of(const StudyResult& result);
/// The table of all points. In a summary, people get the pivots that the study names instead.
std::vector<Table> tables_of(const StudyResult& result, Shown shown);
/// The time split of every point as a bar of characters; empty where the study has none.
std::string bars_of(const StudyResult& result);

/// One result for every check of the study: status "shape" where it holds, else "fail".
std::vector<TargetResult> checked(const StudyResult& result);

}  // namespace tiersim
