#pragma once
// Helpers shared by reports over points: metrics and axes as the user names them.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"

namespace tiersim::cli {

/// The full name of a metric: "throughput" is throughput_tokens_per_s. Throws Failure (usage),
/// which names `option`, if there is none.
std::string full_metric(const std::string& name, const std::string& option);
/// The same for a metric that must be in a record of these points.
std::string metric_of_points(const PointTable& table, const std::string& name,
                             const std::string& option);

/// "maximize:throughput", "minimize:tpot". Throws Failure (usage).
ReportObjective parse_objective(const std::string& text);

/// The index of a column. Throws Failure (usage) with the known columns.
std::size_t column_of(const PointTable& table, const std::string& name, const std::string& option);

}  // namespace tiersim::cli
