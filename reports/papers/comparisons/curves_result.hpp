#pragma once
// The result of curves: a record for every machine, case, context and way, and its section of the
// report.
#include <memory>
#include <string>
#include <vector>

#include "reports/papers/comparisons/comparison.hpp"
#include "reports/papers/reproduce/section.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

struct CurvePoint {
  /// Null where the point cannot run; `problem` says why
  std::shared_ptr<const RunRecord> record = {};
  std::string problem = {};
  std::int64_t batch = 0;  ///< of the run
};

struct CurvesResult {
  Curves curves;
  std::vector<std::string> machines;  ///< labels
  std::vector<CurvePoint> points;     ///< the way varies fastest, then context, case, machine

  std::size_t ways(std::size_t which) const { return curves.cases[which].ways.size(); }
  const CurvePoint& at(std::size_t machine, std::size_t which, std::size_t value,
                       std::size_t way) const;
  /// The metric of `way` over that of `than`; 0 where either cannot run.
  double ratio(std::size_t machine, std::size_t which, std::size_t value, std::size_t way,
               std::size_t than = 0) const;
};

/// Checks have the status `shape` or `fail`. Printed ratios are `explained` where one machine is
/// near them in all cases, else `unexplained`.
ReportSection section_of(const CurvesResult& result);

}  // namespace tiersim
