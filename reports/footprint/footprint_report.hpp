#pragma once
// Footprint of one GPU of a replica: its heads, the width of its cache, its weights by purpose, and
// its memory at the batch and context of the scenario. Also the largest batch of a replica that
// fits at other contexts. Made from records alone (`device`, `capacity_bytes`, the footprint).
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
  std::string problem = {};           ///< the reason why the scenario has no batch at this context
};

struct FootprintCase {
  std::string scenario;                     ///< file, as given
  std::shared_ptr<const RunRecord> record;  ///< with its memory accounting at least
  std::vector<LargestBatch> largest;        ///< at each of the report's contexts
};

struct FootprintReport {
  std::vector<std::int64_t> contexts;  ///< positions
  std::vector<FootprintCase> cases;
};

/// One GPU, its memory, its weights (for CSV one part a row), and largest batches. People read
/// "22.93 GiB", four digits and binary units.
std::vector<Table> tables_of(const FootprintReport& report);

/// `{report: "footprint", contexts: [...], scenarios: [{name, file, device: {...}, tiers: {...},
/// largest_batch: [...]}]}`, whole bytes and counts, ending in a newline. `tiers` is of one GPU.
std::string to_json(const FootprintReport& report);

}  // namespace tiersim
