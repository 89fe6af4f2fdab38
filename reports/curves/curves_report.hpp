#pragma once
// A metric of points over one numeric column, a line for each combination of labels of others: a
// table, a drawing with intervals, JSON.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/line_chart.hpp"
#include "reports/render/table.hpp"
#include "sim/base/expected.hpp"

namespace tiersim {

struct CurveQuestion {
  std::string metric = {};            ///< full name
  std::optional<std::size_t> x = {};  ///< column; else the one numeric column that varies
  std::vector<std::size_t> by = {};   ///< columns that make the lines; else all others that vary
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
  std::vector<CurveLine> lines = {};  ///< in the order of their first points
  std::size_t without = 0;            ///< points without this metric
};

/// The error says which columns could be over what, or in which column two points of one line
/// differ.
Expected<CurvesReport> curves_of(const PointTable& table, const CurveQuestion& question);

/// Rounded: a table a panel, rows over x and a column a line. Exact: one row a point, with
/// interval, class and run id.
std::vector<Table> tables_of(const CurvesReport& report, Digits digits);
std::string to_json(const CurvesReport& report);
/// x is logarithmic where it spans more than a factor of eight, y more than thirty. Points without
/// a value interrupt their line.
LineChart chart_of(const CurvesReport& report);

}  // namespace tiersim
