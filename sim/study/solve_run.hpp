#pragma once
// Finds by simulation the value of a setting at which a metric has a given value. Shared by
// `tiersim solve` and the questions of `tiersim reproduce`.
#include <string>

#include "reports/papers/studies/solve_result.hpp"
#include "sim/runner/point_runner.hpp"
#include "sim/runner/setting_range.hpp"

namespace tiersim {

/// The full name of a metric: "tpot_s" for "tpot". Throws Failure (usage) if there is no such
/// metric.
std::string full_metric(const std::string& metric);

/// A value of an existing metric in its unit: "50 ms" is 0.05 for a time. Only metrics without a
/// dimension (tokens/s, a count) take a bare number. The error names the expected form.
Expected<double> metric_value(const std::string& metric, const std::string& text);

/// The point's record; throws Failure (bad_config) with every mistake of its files and settings.
PointResult run_point(PointRunner& runner, const Point& point,
                      Evaluation evaluation = Evaluation::all);

/// The metric's value in a record; throws Failure (bad_config) if the record of this step has none.
double metric_of(const RunRecord& record, const std::string& metric, const Point& point);

/// The range of a setting of the point, in whole numbers if the setting is a count. The error names
/// the problem of the ends.
Expected<SettingRange> range_of(PointRunner& runner, Point point, const std::string& vary,
                                const std::string& low, const std::string& high);

/// A point that does not fit gives an answer of its own ("cannot run"); mistakes throw Failure.
SolveAnswer answer(PointRunner& runner, const Point& point, const SettingRange& range,
                   const std::string& metric, double target);

}  // namespace tiersim
