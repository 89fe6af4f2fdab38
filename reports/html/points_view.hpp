#pragma once
// A PointTable as the page needs it: by columns, with the axes and metrics that are worth drawing.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/pareto/pareto_report.hpp"
#include "reports/points/point_table.hpp"

namespace tiersim {

/// A column of labels; each distinct label is stored once.
struct LabelColumn {
  std::string name = {};
  std::string key = {};
  std::vector<std::string> labels = {};  ///< in the order of the points; "" is one of them
  std::vector<std::size_t> at = {};      ///< index into `labels`, by point
  /// Values of the labels in `unit` where all are numbers or quantities; NaN for "". Else empty.
  std::vector<double> numbers = {};
  std::string unit = {};
  /// Order in which `labels` are listed: by number, else by first point.
  std::vector<std::size_t> order = {};

  bool numeric() const { return !numbers.empty(); }
  bool varies() const { return labels.size() > 1; }
  /// True for a number that no setting takes: it follows from those of other columns.
  bool derived() const { return numeric() && key.empty(); }
};

/// One metric of all points.
struct MetricColumn {
  std::string name = {};
  std::string unit = {};
  std::string meaning = {};
  NumberClass weakest = NumberClass::measured;  ///< the weakest over the points
  std::vector<double> values = {};              ///< by point; NaN where it has none
  std::vector<double> low = {};                 ///< ends of ci95; empty where no point has any
  std::vector<double> high = {};
  bool varies = false;
};

/// The columns that the first chart of a page is drawn from when the page is opened. For a column
/// that is absent here, the chart chooses one itself.
struct ChartChoice {
  std::optional<std::size_t> x = {};      ///< numeric column
  std::string metric = {};                ///< full name
  std::optional<std::size_t> by = {};     ///< column of the lines and their colours
  std::optional<std::size_t> panel = {};  ///< column with a panel for each label
};

struct PointsView {
  std::vector<LabelColumn> columns = {};
  /// Metrics that some point has, in the order of `list metrics`
  std::vector<MetricColumn> metrics = {};
  std::vector<ReportObjective> objectives = {};  ///< of the sweep, else the default ones
  ChartChoice choice = {};
  bool chosen_objectives = false;  ///< true where the sweep states no objectives
  /// The Pareto front of the objectives; none where there are fewer than two.
  std::optional<ParetoReport> pareto = {};
  std::vector<std::size_t> front = {};              ///< points that no other point dominates
  std::vector<std::size_t> objective_metrics = {};  ///< indices of `metrics`, one an objective

  /// Indices of `metrics` that a table shows first: objectives, then metrics that vary; 8 at most.
  std::vector<std::size_t> shown = {};

  std::optional<std::size_t> metric(std::string_view name) const;
  /// The axis of the first chart: the chosen one, else the numeric axis with the most values, a
  /// setting before a derived one; none where no axis varies.
  std::optional<std::size_t> main_axis() const;
};

/// `table` outlives the view.
PointsView view_of(const PointTable& table, ChartChoice choice = {});

/// A label as shown: "(none)" for an empty one.
inline std::string shown_label(const std::string& label) {
  return label.empty() ? "(none)" : label;
}

}  // namespace tiersim
