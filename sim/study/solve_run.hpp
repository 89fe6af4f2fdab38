#pragma once
// Finds by simulation the value of a setting at which a metric has a given value. Shared by
// `tiersim solve` and the questions of `tiersim reproduce`.
#include <cstdint>
#include <string>
#include <vector>

#include "reports/papers/studies/solve_result.hpp"
#include "sim/runner/point_runner.hpp"
#include "sim/runner/setting_range.hpp"

namespace tiersim {

/// A value of an existing metric in its unit: "50 ms" is 0.05 for a time. Only metrics without a
/// dimension (tokens/s, a count) take a bare number. The error names the expected form.
Expected<double> metric_value(const std::string& metric, const std::string& text);

/// The point's record; throws Failure (bad_config) with every mistake of its files and settings.
/// Metrics of a step have no intervals by default, since their draws take a hundred times as long.
PointResult run_point(PointRunner& runner, const Point& point,
                      Evaluation evaluation = Evaluation::times);

/// The metric's value in a record; throws Failure (bad_config) if the record of this step has none.
double metric_of(const RunRecord& record, const std::string& metric, const Point& point);

/// The range of a setting of the point, in whole numbers if the setting is a count. The error names
/// the problem of the ends.
Expected<SettingRange> range_of(PointRunner& runner, Point point, const std::string& vary,
                                const std::string& low, const std::string& high);

/// A value of a device that an answer stands for.
struct DeviceValue {
  std::string name = {};   ///< a channel, "sm.to_gpu", or the setting itself
  std::string value = {};  ///< "173 GB/s"
  double factor = 1;       ///< over the value in the file
  std::string base = {};   ///< that value, "35.2 GB/s"
};
/// For the setting `what_if.far_bandwidth`, the channels that it scales, the narrowest first; for
/// a quantity, the setting beside its value in the file. Empty for anything else.
std::vector<DeviceValue> device_values(PointRunner& runner, const Point& point,
                                       const SettingRange& range, const std::string& value);

/// The metric is the mean over `seeds` seeds. A point that does not fit gives an answer of its own
/// ("cannot run"); mistakes throw Failure.
SolveAnswer answer(PointRunner& runner, const Point& point, const SettingRange& range,
                   const std::string& metric, double target, std::int64_t seeds = 1);

}  // namespace tiersim
