#pragma once
// A PointTable as the page needs it: by columns instead of by points, with what is worth drawing.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/pareto/pareto_report.hpp"
#include "reports/points/point_table.hpp"

namespace tiersim {

/// A column of labels, each different one once.
struct LabelColumn {
  std::string name = {};
  std::string key = {};
  std::vector<std::string> labels = {};  ///< in the order of the points; "" is one of them
  std::vector<std::size_t> at = {};      ///< by point, which of `labels`
  /// Where all are numbers or quantities: their values in `unit`, which suits them; NaN of "".
  std::vector<double> numbers = {};
  std::string unit = {};
  /// Indices of `labels` to be listed in: by number, else in the order of the points.
  std::vector<std::size_t> order = {};

  bool numeric() const { return !numbers.empty(); }
  bool varies() const { return labels.size() > 1; }
};

/// One metric of all points.
struct MetricColumn {
  std::string name = {};
  std::string unit = {};
  std::string meaning = {};
  NumberClass weakest = NumberClass::measured;  ///< over the points
  std::vector<double> values = {};              ///< by point; NaN where it has none
  std::vector<double> low = {};                 ///< ends of ci95; empty where no point has any
  std::vector<double> high = {};
  bool varies = false;
};

struct PointsView {
  std::vector<LabelColumn> columns = {};
  std::vector<MetricColumn> metrics = {};        ///< that some point has, as `list metrics` orders
  std::vector<ReportObjective> objectives = {};  ///< of the sweep, else chosen here
  bool chosen_objectives = false;                ///< not the sweep's own
  /// Of the objectives, over the table; none where there are no two.
  std::optional<ParetoReport> pareto = {};
  std::vector<std::size_t> front = {};              ///< its points that no other dominates
  std::vector<std::size_t> objective_metrics = {};  ///< indices of `metrics`, one an objective

  /// Indices of `metrics` that a table shows first: objectives, then what varies; 8 at most.
  std::vector<std::size_t> shown = {};

  std::optional<std::size_t> metric(std::string_view name) const;
  /// The numeric axis with most values, that of the first chart; none where no axis varies.
  std::optional<std::size_t> main_axis() const;
};

/// The table outlives it.
PointsView view_of(const PointTable& table);

/// A label as it is shown; an empty one has a name as well.
inline std::string shown_label(const std::string& label) {
  return label.empty() ? "(none)" : label;
}

}  // namespace tiersim
