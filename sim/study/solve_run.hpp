#pragma once
// One question answered by simulation: at which value of a setting a metric has a value. Shared by
// `tiersim solve` and the questions of `tiersim reproduce`.
#include <string>

#include "reports/papers/studies/solve_result.hpp"
#include "sim/runner/point_runner.hpp"
#include "sim/runner/setting_range.hpp"

namespace tiersim {

/// Throws Failure (usage) when there is no such metric.
void expect_metric(const std::string& metric);

/// A value of the metric, which exists, in its unit: "50 ms" is 0.05 of a time. Only what has no
/// dimension (tokens/s, a count) is a bare number. The error names what is expected.
Expected<double> metric_value(const std::string& metric, const std::string& text);

/// The point's record; throws Failure (bad_config) with every mistake of its files and settings.
PointResult run_point(PointRunner& runner, const Point& point,
                      Evaluation evaluation = Evaluation::all);

/// The metric of a record; throws Failure (bad_config) when a record of this step has none.
double metric_of(const RunRecord& record, const std::string& metric, const Point& point);

/// The range of a setting of the point; only whole numbers of it where the setting is a count. The
/// error says what is wrong with the ends.
Expected<SettingRange> range_of(PointRunner& runner, Point point, const std::string& vary,
                                const std::string& low, const std::string& high);

/// What does not fit is an answer of its own ("cannot run"); mistakes throw Failure.
SolveAnswer answer(PointRunner& runner, const Point& point, const SettingRange& range,
                   const std::string& metric, double target);

}  // namespace tiersim
