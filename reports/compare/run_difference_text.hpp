#pragma once
// A simulated run of a server beside a measured one (sim/validate/metric_difference.hpp).
#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/validate/metric_difference.hpp"

namespace tiersim {

/// A table for each metric, with its parts and what each would have to take.
std::vector<Table> run_difference_tables(const std::vector<MetricDifference>& differences);
/// {metrics: [{metric, measured, simulated, parts: [{name, seconds, factor, could_explain}]}]},
/// times in seconds.
std::string run_difference_json(const std::vector<MetricDifference>& differences);

}  // namespace tiersim
