#pragma once
// The columns that a study can show, each computed from a record: every metric by its name, the
// parts of the time split, the bottleneck, and derived values.
//
//   split.<part>, share.<part>   a part of the time split in seconds, and as a share of the step
//   split, shares                all six parts
//   bounded_by                   the longest wait of the critical path, or the fullest channel
//   bound_share                  bound over step
//   limit                        the cause of the largest part of the step: HBM, FLOP,
//                                capacity (weights, which a larger batch would share),
//                                all-reduce, host, launch, link
//   screening_roof               tier that limits screening by peak capacities on the path to it
//   screening_roof_bandwidth     the least of these capacities
//   screening_intensity          FLOP of screening for each byte that it reads from that tier
//   screening_attainable         FLOP/s under that roof: intensity times bandwidth
//   screening_rate               FLOP/s as simulated, fetches included
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// True where a column of that name exists. `metrics`: names of all metrics.
bool is_study_column(std::string_view name, std::span<const std::string_view> metrics);

/// True where the column needs the configuration in the record.
bool reads_configuration(std::string_view name);

/// The columns with `split` and `shares` replaced by their parts.
std::vector<std::string> expanded(const std::vector<std::string>& columns);

/// The column of a table: title, key and unit. `record` gives the unit of a metric.
Column column_of(const std::string& name, const RunRecord* record);

/// The value in the base unit; an empty cell where the record has no such value.
Cell cell_of(const std::string& name, const RunRecord& record);
/// The text of that value for people: "12.34 ms", "41.2 %", "-".
Cell cell_of(const Column& column, const RunRecord& record);
/// The column `limit`.
std::string limit_of(const RunRecord& record);

}  // namespace tiersim
