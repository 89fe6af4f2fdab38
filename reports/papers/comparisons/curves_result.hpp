#pragma once
// What came of curves: a record for every machine, case, context and way, and the section about
// them.
#include <memory>
#include <string>
#include <vector>

#include "reports/papers/comparisons/comparison.hpp"
#include "reports/papers/reproduce/section.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

struct CurvePoint {
  std::shared_ptr<const RunRecord> record = {};  ///< null where it cannot run:
  std::string problem = {};
  std::int64_t batch = 0;  ///< that it ran
};

struct CurvesResult {
  Curves curves;
  std::vector<std::string> machines;  ///< labels
  std::vector<CurvePoint> points;     ///< way fastest, then context, case, machine

  std::size_t ways(std::size_t which) const { return curves.cases[which].ways.size(); }
  const CurvePoint& at(std::size_t machine, std::size_t which, std::size_t value,
                       std::size_t way) const;
  /// The metric of one way over that of another; 0 where either cannot run.
  double ratio(std::size_t machine, std::size_t which, std::size_t value, std::size_t way,
               std::size_t than = 0) const;
};

/// Checks have the status `shape` or fail; printed ratios are `explained` where some machine comes
/// near all cases, else `unexplained`.
ReportSection section_of(const CurvesResult& result);

}  // namespace tiersim
