#pragma once
// The worth of one more unit of an axis: the change of metrics from each value of a numeric column
// to the next, divided by the distance of the two values. With the capacity of a tier as the column
// and the cost of a million tokens as the metric this is the marginal value of a GB.
//
// Repeats of one configuration (seeds of a workload) are compared pair by pair, so that what their
// common random numbers share cancels out; the interval is that of the mean of these differences by
// Student's t. Without repeats it follows from the intervals of both points as if these were
// independent, which is too wide where they share random numbers.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/missing_points.hpp"
#include "reports/points/point_table.hpp"
#include "reports/render/figure.hpp"
#include "reports/render/table.hpp"
#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

struct MarginalQuestion {
  std::vector<std::string> metrics = {};  ///< full names; at least one
  std::optional<std::size_t> x = {};      ///< column; none: the only numeric column that varies
  std::vector<std::size_t> by = {};       ///< columns that tell lines apart; empty: all others
  std::optional<std::size_t> over = {};   ///< column of repeats
};

/// From one value of the column to the next; numbers in base units, means over the repeats.
struct MarginalStep {
  std::string from = {};  ///< labels
  std::string to = {};
  double from_x = 0;
  double to_x = 0;
  double before = 0;  ///< the metric at `from`
  double after = 0;
  double per_unit = 0;                        ///< (after - before) / (to_x - from_x)
  std::optional<Interval<double>> ci95 = {};  ///< of per_unit
  std::size_t repeats = 1;

  /// True where the interval has both signs, so that the change is not known to be one.
  bool undecided() const { return ci95 && ci95->low < 0 && ci95->high > 0; }
};

struct MarginalLine {
  std::string metric = {};
  std::string unit = {};
  std::string name = {};  ///< labels of the other columns; empty if none varies
  std::vector<MarginalStep> steps = {};
};

struct MarginalReport {
  std::string title = {};
  std::string x_name = {};
  std::string x_unit = {};  ///< base unit of the labels; empty for numbers
  bool paired = false;      ///< intervals are those of differences of repeats
  std::string of_class = {};
  std::vector<MarginalLine> lines = {};  ///< by metric, then in the order of their first points
  MissingPoints missing = {};
};

/// The unit that a change is stated for: 1 GB for bytes, 1 GB/s for B/s, else one base unit.
struct PerUnit {
  double size = 1;        ///< in base units
  std::string name = {};  ///< "GB"; empty for numbers
};
PerUnit per_unit_of(const std::string& base_unit);

/// The error names the columns that can be x, or the column in which two points of one line differ.
Expected<MarginalReport> marginal_of(const PointTable& table, const MarginalQuestion& question);

/// One table for each metric.
std::vector<Table> tables_of(const MarginalReport& report);
std::string to_json(const MarginalReport& report);
/// A panel for each metric: the change by one more unit, at the value that it leads to.
Figure figure_of(const MarginalReport& report);

}  // namespace tiersim
