#pragma once
// A trace of the positions that a method chose, step by step, as text:
//
//   # anything
//   context 1024          number of positions to choose from
//   groups 2              head groups; may be left out for 1
//   0 3 17 512            step 0 of group 0: the chosen positions
//   0 1 5 900             step 0 of group 1
//   0 3 17 513            step 1 of group 0 ...
//
// It is evaluated as the reuse curve of a near-tier row cache (attention/hot_rows.hpp). Each group
// has an LRU cache of its own: all rows of a step are looked up in the state that earlier steps
// left, and then become its newest. The first step of a group only fills the cache; later, a row
// that was never chosen before is a miss. The context is taken as constant over the trace.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

struct IndexTrace {
  std::int64_t context = 0;
  /// Chosen positions by group, then step.
  std::vector<std::vector<std::vector<std::int64_t>>> groups = {};
};
Expected<IndexTrace, std::vector<ImportProblem>> parse_index_trace(const std::string& text);

/// Number of looked-up rows found at each stack distance, over all groups.
struct ReuseCounts {
  std::vector<std::int64_t> at_distance =
      {};  ///< [d]: found by caches of at least d rows; [0] is 0
  std::int64_t looked_up = 0;

  /// Share of the looked-up rows that a cache of this many rows a group holds.
  double hit_rate(std::int64_t rows) const;
};
ReuseCounts count_reuse(const IndexTrace& trace);

/// YAML `reuse: [{share: .., rows: .., hit_rate: ..}, ...]` at shares of the context from 0 to 1.
Expected<std::string, std::vector<ImportProblem>> import_index_trace(
    const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
