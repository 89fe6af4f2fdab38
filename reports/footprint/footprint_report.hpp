#pragma once
// What one GPU of a replica has and holds: heads, width of the cache, weights by what they are for,
// and memory at the scenario's batch and context; and the largest batch of a replica that fits at
// other contexts. Made of records alone (`device`, `capacity_bytes`, the footprint).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

struct LargestBatch {
  std::optional<std::int64_t> batch;  ///< of a replica; 0: not even one sequence fits
  std::string problem = {};           ///< why the scenario has none at this context
};

struct FootprintCase {
  std::string scenario;                     ///< file, as given
  std::shared_ptr<const RunRecord> record;  ///< of its accounting, at least
  std::vector<LargestBatch> largest;        ///< at each of the report's contexts
};

struct FootprintReport {
  std::vector<std::int64_t> contexts;  ///< positions
  std::vector<FootprintCase> cases;
};

/// How bytes are written.
enum class Precision : std::uint8_t {
  rounded,  ///< for people: "22.93 GiB", four digits, binary units
  exact,    ///< for programs: every byte; weights one part a row
};
/// One GPU, its memory, its weights, and largest batches.
std::vector<Table> tables_of(const FootprintReport& report, Precision precision);

/// `{report: "footprint", contexts: [...], scenarios: [{name, file, device: {...}, tiers: {...},
/// largest_batch: [...]}]}`, whole bytes and counts, ending in a newline. `tiers` is of one GPU.
std::string to_json(const FootprintReport& report);

}  // namespace tiersim
