#pragma once
// Traffic over points, in three numbers for each device (ARCHITECTURE.md): payload, bytes moved in
// the granules of the device, and bytes on its wires. Also by tensor class, for each request and
// for each new token, with the utilisation of the busiest channel. For one step, or for the whole
// run of a server.
#include <optional>
#include <string>
#include <vector>

#include "reports/footprint/footprint_report.hpp"
#include "reports/footprint/point_labels.hpp"

namespace tiersim {

/// Tables of the bytes of one GPU by device, of the payload by tensor class (CSV has a row for each
/// class), and of channels. With a baseline, the payload stands beside that of the baseline.
std::vector<Table> io_tables(const PointTable& table, const std::optional<Baseline>& baseline);

/// `{report: "io", baseline?, points: [{labels, run_id, devices: {<device>: {payload, moved:
/// {read, write}, wire, read_by_class, write_by_class, payload_per_request, payload_per_token,
/// busiest_channel, busy_share, of_baseline?}}, channels: {<channel>: {bytes, busy_share}}}]}`,
/// ending in a newline.
std::string io_json(const PointTable& table, const std::optional<Baseline>& baseline);

}  // namespace tiersim
