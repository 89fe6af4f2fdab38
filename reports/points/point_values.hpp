#pragma once
// Numbers of points for reports: labels of numeric axes, and metrics with unit and class.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/points/point_table.hpp"
#include "sim/base/table.hpp"

namespace tiersim {

/// A label of a numeric column in base units: 48e9 B/s for "48 GB/s"; 4096 without a unit for
/// "4096".
struct LabelNumber {
  double value = 0;
  std::string unit = {};
};
/// None where the label is no number and no quantity.
std::optional<LabelNumber> number_of_label(const std::string& label);

/// The metric of a point's record; null where it has none.
const Metric* find_metric(const ReportPoint& point, const std::string& name);

/// The value of a record's metric; none where the record lacks it.
std::optional<double> metric_value(const RunRecord& record, const std::string& name);

/// Objectives for points whose sweep states none, best first: pairs of opposing metrics.
std::span<const std::array<ReportObjective, 2>> usual_objectives();

/// Full names of the metrics that any point has, or had before the report left it out, sorted by
/// name.
std::vector<std::string> metric_names(const PointTable& table);

/// The common class of these metrics, "specification", or "mixed"; empty where there are none.
std::string class_text(std::span<const Metric* const> metrics);

/// A unit that makes numbers short; values in base units are multiplied by `factor`.
struct ShownUnit {
  double factor = 1;
  std::string name = {};  ///< empty where the unit is that of counts and ratios
};
/// The unit for values up to `largest`: ns, us, ms or s for "s", binary prefixes for "B", decimal
/// prefixes for rates and FLOP, and no prefix for others.
ShownUnit shown_unit(std::string_view unit, double largest);

/// "throughput_tokens_per_s" with its shown unit, as a label of an axis: "kv_footprint (GiB)".
std::string axis_label(const std::string& metric, const ShownUnit& unit);

/// The limits of a metric, each value once: a sweep may be subject to the SLO of its server.
std::vector<MetricLimit> limits_of(const PointTable& table, const std::string& metric);

/// "SLO 200 ms".
std::string limit_text(const MetricLimit& limit, const std::string& unit);

/// The value of a metric as a cell. Its text has the interval, where the metric has one:
/// "12.3 ms [11.9 ms, 12.8 ms]".
Cell cell_of(const Metric& metric);

}  // namespace tiersim
