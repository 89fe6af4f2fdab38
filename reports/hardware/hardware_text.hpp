#pragma once
// What the levels of fidelity say of hardware beside reference curves: tables, JSON and pictures.
#include <string>
#include <vector>

#include "reports/render/line_chart.hpp"
#include "reports/render/table.hpp"
#include "sim/record/probe_record.hpp"

namespace tiersim {

/// How many answers of a level are what, over all curves or those of a group.
struct HardwareCounts {
  std::int64_t within = 0;
  std::int64_t known = 0;
  std::int64_t outside = 0;  ///< stale ones too
  double median = 0;         ///< magnitude of the errors of held answers
  double worst = 0;
};
HardwareCounts counts_of(const std::vector<CurveReading>& curves, Fidelity level);

/// Points outside of their band that were not known to be, and known ones that are inside.
std::int64_t unexpected(const std::vector<CurveReading>& curves);

/// A curve's points at every level.
Table curve_table(const CurveReading& curve);
/// Curves by level: points, worst error, and what band they are held to.
Table overview_table(const std::vector<CurveReading>& curves);

std::string to_text(const std::vector<CurveReading>& curves);
/// {cases: [{id, level, predicted, reference, unit, error, band, status, ...}], summary}.
std::string to_json(const std::vector<CurveReading>& curves);

/// Curves that have an axis, those of one group, quantity and axis side by side, six in a picture.
std::vector<LineChart> charts_of(const std::vector<CurveReading>& curves);

}  // namespace tiersim
