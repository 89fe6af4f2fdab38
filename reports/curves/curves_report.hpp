#pragma once
// A metric over one numeric column, with a line for each combination of the other labels: as a
// table, as a drawing with intervals, and as JSON.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/figure.hpp"
#include "reports/render/table.hpp"
#include "sim/base/expected.hpp"

namespace tiersim {

struct CurveQuestion {
  std::string metric = {};            ///< full name
  std::optional<std::size_t> x = {};  ///< column; none: the only numeric column that varies
  std::vector<std::size_t> by = {};  ///< columns that tell lines apart; empty: all others that vary
  std::optional<std::size_t> panel = {};  ///< column that makes a panel for each label
};

struct CurveSample {
  double x = 0;           ///< in base units
  std::size_t point = 0;  ///< index in the table
};
struct CurveLine {
  std::string name = {};                  ///< labels, "MAPLE, 16"
  std::string panel = {};                 ///< label
  std::vector<CurveSample> samples = {};  ///< by rising x
};

struct CurvesReport {
  const PointTable* table = nullptr;  ///< outlives this
  std::string metric = {};
  std::string unit = {};
  std::string x_name = {};
  std::string x_unit = {};  ///< base unit of the labels; empty for numbers
  std::string panel_name = {};
  std::vector<CurveLine> lines = {};     ///< in the order of their first points
  std::size_t without = 0;               ///< points without this metric
  std::vector<MetricLimit> limits = {};  ///< those of the table for this metric
};

/// The error names the columns that can be x, or the column in which two points of one line differ.
Expected<CurvesReport> curves_of(const PointTable& table, const CurveQuestion& question);

/// The label of a sample on the x axis, "64 GiB".
const std::string& x_label_of(const CurvesReport& report, const CurveSample& sample);

/// People get a table for each panel, with a row for each x and a column for each line. CSV gets a
/// row for each point, with interval, class and run id.
std::vector<Table> tables_of(const CurvesReport& report);
std::string to_json(const CurvesReport& report);
/// x is logarithmic where it is wide (is_wide() of reports/render/axis.hpp), and y where it spans
/// more than a factor of 30. A point without a value interrupts its line.
Figure figure_of(const CurvesReport& report);

}  // namespace tiersim
