#pragma once
// What is moved, over points: for each device payload, what it moves for it in its granules, and
// what crosses its wires, three numbers (ARCHITECTURE.md); by tensor class; of a request and a new
// token; and the share of the time that its busiest channel works. Of one step, or of a server's
// whole run.
#include <optional>
#include <string>
#include <vector>

#include "reports/footprint/footprint_report.hpp"
#include "reports/footprint/point_labels.hpp"

namespace tiersim {

/// Bytes of one GPU by device, payload by tensor class, and channels. With a baseline the payload
/// beside the baseline's. Exact: every byte, and a class a row.
std::vector<Table> io_tables(const PointTable& table, const std::optional<Baseline>& baseline,
                             Precision precision);

/// `{report: "io", baseline?, points: [{labels, run_id, devices: {<device>: {payload, moved:
/// {read, write}, wire, read_by_class, write_by_class, payload_per_request, payload_per_token,
/// busiest_channel, busy_share, of_baseline?}}, channels: {<channel>: {bytes, busy_share}}}]}`,
/// ending in a newline.
std::string io_json(const PointTable& table, const std::optional<Baseline>& baseline);

}  // namespace tiersim
