#pragma once
// Hardware models at each fidelity level beside reference curves: tables, JSON and pictures.
#include <string>
#include <vector>

#include "reports/render/figure.hpp"
#include "reports/render/table.hpp"
#include "sim/record/probe_record.hpp"

namespace tiersim {

/// Number of answers of one level by status, over all curves or those of a group.
struct HardwareCounts {
  std::int64_t within = 0;
  std::int64_t known = 0;
  std::int64_t outside = 0;  ///< with stale ones: known to be outside, and now inside
  double median = 0;         ///< of the magnitudes of the errors that are held to a band
  double worst = 0;
};
HardwareCounts counts_of(const std::vector<CurveReading>& curves, Fidelity level);

/// Number of points that are outside of their band without being known to be, plus known ones that
/// are inside.
std::int64_t unexpected(const std::vector<CurveReading>& curves);

/// The points of one curve at every level.
Table curve_table(const CurveReading& curve);
/// A row for each curve: points, worst error and band at every level.
Table overview_table(const std::vector<CurveReading>& curves);

std::string to_text(const std::vector<CurveReading>& curves);
/// {cases: [{id, level, predicted, reference, unit, error, band, status, ...}], summary}.
std::string to_json(const std::vector<CurveReading>& curves);

/// A panel for each curve that has an axis. Curves of one group, quantity and axis share a picture,
/// six at most.
std::vector<Figure> charts_of(const std::vector<CurveReading>& curves);

}  // namespace tiersim
