#pragma once
// What kinds of reports over points share: metrics and axes as the user names them, and figures.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"

namespace tiersim::cli {

/// The full name of a metric: "throughput" is throughput_tokens_per_s. Throws Failure (usage) that
/// names `option` where there is none.
std::string full_metric(const std::string& name, const std::string& option);
/// The same where it must be in a record of these points.
std::string metric_of_points(const PointTable& table, const std::string& name,
                             const std::string& option);

/// "maximize:throughput", "minimize:tpot". Throws Failure (usage).
ReportObjective parse_objective(const std::string& text);

/// The index of a column. Throws Failure (usage) with the columns that there are.
std::size_t column_of(const PointTable& table, const std::string& name, const std::string& option);

/// Whether `path` can be written and ends in ".svg". Throws Failure. No name is no figure.
void expect_figure(const std::string& path);
/// Writes it and says so on stderr.
void write_figure(const std::string& path, const std::string& svg);

}  // namespace tiersim::cli
