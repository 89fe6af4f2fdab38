#pragma once
// The points that nothing beats, of any points and two objectives or more: a table, a drawing,
// JSON.
//
//   ParetoReport report = pareto_of(table, {objective_of(table, {"throughput_tokens_per_s", true}),
//                                           objective_of(table, {"kv_footprint_bytes", false})});
//
// Points that break a constraint are not compared; neither are those without one of the values. All
// are counted. The knee is the point of the front nearest to the best of every objective at once,
// each scaled from its best to its worst on the front. The hypervolume is the share of the box
// between the worst and the best value of each objective, over all points that are compared, that
// the front dominates: 0 to 1. Other points have another box, so that shares of two sweeps are not
// compared. Where compared points differ in what is asked (context, prompt, workload), which is no
// choice, a note says so.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/scatter_chart.hpp"
#include "reports/render/table.hpp"
#include "sim/base/pareto.hpp"

namespace tiersim {

struct ParetoObjective {
  std::string name = {};  ///< of the metric
  std::string unit = {};
  Sense sense = Sense::minimize;
  std::vector<std::optional<Metric>> values = {};  ///< one a point
  std::string note = {};                           ///< what must be said of it, below the table
};
/// Of a metric of the records.
ParetoObjective objective_of(const PointTable& table, const ReportObjective& objective);

/// A column that is no objective, beside them: text for each point.
struct ParetoColumn {
  std::string title = {};
  std::vector<std::string> cells = {};
};

struct ParetoReport {
  const PointTable* table = nullptr;  ///< outlives this
  std::vector<ParetoObjective> objectives = {};
  std::vector<ParetoColumn> columns = {};
  /// Indices of points, the best of the first objective first.
  std::vector<std::size_t> front = {};
  std::vector<std::size_t> dominated = {};
  std::vector<std::size_t> unacceptable = {};  ///< break a constraint
  std::vector<std::size_t> without = {};       ///< did not run, or have no value of an objective
  std::optional<std::size_t> knee = {};
  double hypervolume = 0;
  std::vector<std::string> notes = {};  ///< more that must be said of it
};

ParetoReport pareto_of(const PointTable& table, std::vector<ParetoObjective> objectives);

/// The front, with what was left out in notes. `all`: every point that is compared, and whether it
/// is on the front. Exact digits also bring the ends of 95 % intervals, where a point has one, the
/// whole run id and the command that runs it again.
std::vector<Table> tables_of(const ParetoReport& report, Digits digits, bool all);
std::string to_json(const ParetoReport& report);

/// Objective `y` over objective `x`, in colours by the column of labels `by`, where there is one.
/// The front is that of all objectives; the step line is drawn where there are only these two.
ScatterChart scatter_of(const ParetoReport& report, std::size_t x, std::size_t y,
                        std::optional<std::size_t> by);
/// The column whose labels tell groups apart best: the first that is not numeric and has 2 to 20
/// different ones, else the first numeric one with 2 to 7.
std::optional<std::size_t> grouping_column(const PointTable& table);

}  // namespace tiersim
