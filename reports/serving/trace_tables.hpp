#pragma once
// Tables of the statistics of a request trace (workloads/serving/trace_statistics.hpp).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "workloads/serving/trace_statistics.hpp"

namespace tiersim {

struct TraceTablesOptions {
  std::int64_t block = 512;               ///< tokens of a named block
  std::optional<Bytes> token_bytes = {};  ///< keys and values of a token, for capacities in bytes
  std::vector<std::int64_t> capacities = {};  ///< [blocks]; empty: powers of two up to all blocks
};

/// A share of 1, in percent with one digit.
Cell percent_cell(double share);

/// Requests and bursts, lengths, and, where prompts name their blocks, the reuse and the hit rate
/// of an LRU cache by its capacity. All are for all readers.
std::vector<Table> trace_tables(const TraceStatistics& trace, const TraceTablesOptions& options);
/// The same as one JSON object with a list of rows for each table.
std::string trace_json(const TraceStatistics& trace, const TraceTablesOptions& options);

}  // namespace tiersim
