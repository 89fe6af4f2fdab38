#pragma once
// Helpers shared by reports over points: metrics and axes as the user names them, and figures.
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

/// Throws Failure unless `path` can be written and ends in ".svg". An empty name is no figure.
void expect_figure(const std::string& path);
/// Writes the figure and reports its path on stderr.
void write_figure(const std::string& path, const std::string& svg);

}  // namespace tiersim::cli
