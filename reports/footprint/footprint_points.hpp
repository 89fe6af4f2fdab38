#pragma once
// Memory footprint over points: bytes of one GPU by tier and tensor class, and bytes for each
// request and each cached token, beside those of a baseline. Points come from configurations,
// records or stores.
#include <optional>
#include <string>
#include <vector>

#include "reports/footprint/footprint_report.hpp"
#include "reports/footprint/point_labels.hpp"

namespace tiersim {

/// People get a table by tier and class, and one of shares. CSV gets a row for each point, tier and
/// class. `table` must outlive the result.
std::vector<Table> footprint_tables(const PointTable& table,
                                    const std::optional<Baseline>& baseline);

/// The JSON of the FootprintReport with `points: [{labels, run_id, tiers: {<tier>: {by_class_bytes,
/// sum_bytes, kv_cache_bytes, capacity_bytes, shared_by_gpus, bytes_per_request,
/// kv_bytes_per_request, kv_bytes_per_token, of_baseline?}}}]` added, ending in a newline. Bytes
/// are of one GPU, capacity is of one instance.
std::string to_json(const FootprintReport& report, const PointTable& table,
                    const std::optional<Baseline>& baseline);

}  // namespace tiersim
