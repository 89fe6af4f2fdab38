#pragma once
// The Pareto front of any points over two or more objectives: a table, a drawing, JSON.
//
//   ParetoReport report = pareto_of(table, {objective_of(table, {"throughput_tokens_per_s", true}),
//                                           objective_of(table, {"kv_footprint_bytes", false})});
//
// Points that break a constraint are not compared, and neither are those without a value of an
// objective. All are counted. The knee is the point of the front nearest to the best of every
// objective at once, each scaled from its best to its worst on the front. The hypervolume, 0 to 1,
// is the share of a box that the front dominates; the box spans the worst to the best value of each
// objective over all compared points. Other points have another box, so hypervolumes of two sweeps
// are not comparable. Context, prompt and workload are no choice, so a note says where compared
// points differ in them.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/missing_points.hpp"
#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/figure.hpp"
#include "reports/render/table.hpp"
#include "sim/base/pareto.hpp"

namespace tiersim {

struct ParetoObjective {
  std::string name = {};  ///< of the metric
  std::string unit = {};
  Sense sense = Sense::minimize;
  std::vector<std::optional<Metric>> values = {};  ///< one a point
  std::string note = {};                           ///< a remark below the table
};
/// An objective from a metric of the records.
ParetoObjective objective_of(const PointTable& table, const ReportObjective& objective);

/// A further column of text beside the objectives.
struct ParetoColumn {
  std::string title = {};
  std::vector<std::string> cells = {};
};

/// Numbers of points. They are of all points where the table has a part of them.
struct ParetoCounts {
  std::size_t compared = 0;
  std::size_t unacceptable = 0;
  MissingPoints without = {};
};

struct ParetoReport {
  const PointTable* table = nullptr;  ///< outlives this
  std::vector<ParetoObjective> objectives = {};
  std::vector<ParetoColumn> columns = {};
  /// Indices of points, sorted by the first objective, best first.
  std::vector<std::size_t> front = {};
  std::vector<std::size_t> dominated = {};
  std::vector<std::size_t> unacceptable = {};  ///< break a constraint
  std::vector<std::size_t> without = {};       ///< did not run, or lack a value of an objective
  ParetoCounts counts = {};
  std::optional<std::size_t> knee = {};
  double hypervolume = 0;
  std::vector<std::string> notes = {};  ///< further remarks
};

ParetoReport pareto_of(const PointTable& table, std::vector<ParetoObjective> objectives);

/// The front, with notes on the points left out. `all`: every compared point, with a mark for those
/// on the front. Programs also get the ends of 95 % intervals, where a point has one, the complete
/// run id and the command that runs it again.
Table table_of(const ParetoReport& report, bool all);
/// Lists the positions of points off the front where the table has all points.
std::string to_json(const ParetoReport& report);

/// Objective `y` over objective `x`, coloured by the label column `by` where there is one. The
/// front is that of all objectives; the step line is drawn where there are only these two.
Figure figure_of(const ParetoReport& report, std::size_t x, std::size_t y,
                 std::optional<std::size_t> by);
/// The label column that separates groups best: the first that is not numeric and has 2 to 20
/// distinct labels, else the first numeric one with 2 to 7.
std::optional<std::size_t> grouping_column(const PointTable& table);

}  // namespace tiersim
