#pragma once
// What is held where, over points: bytes of one GPU by tier and tensor class, and of a request and
// a cached token, beside those of a baseline. Of configurations, records and stores alike.
#include <optional>
#include <string>
#include <vector>

#include "reports/footprint/footprint_report.hpp"
#include "reports/footprint/point_labels.hpp"

namespace tiersim {

/// Rounded: a table by tier and class, and one of shares. Exact: one, a row for each point, tier
/// and class. `table` outlives the call.
std::vector<Table> footprint_tables(const PointTable& table,
                                    const std::optional<Baseline>& baseline, Precision precision);

/// What to_json() of the report says, and `points: [{labels, run_id, tiers: {<tier>:
/// {by_class_bytes, sum_bytes, kv_cache_bytes, capacity_bytes, shared_by_gpus, bytes_per_request,
/// kv_bytes_per_request, kv_bytes_per_token, of_baseline?}}}]`, ending in a newline. Bytes of one
/// GPU, capacity of one instance.
std::string to_json(const FootprintReport& report, const PointTable& table,
                    const std::optional<Baseline>& baseline);

}  // namespace tiersim
