#pragma once
// A table of what caches under several eviction policies find of a trace's prompts.
#include <cstdint>
#include <optional>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "workloads/serving/trace_caches.hpp"

namespace tiersim {

struct CacheTablesOptions {
  std::int64_t block = 512;               ///< tokens of a named block
  std::optional<Bytes> token_bytes = {};  ///< keys and values of a token, for capacities in bytes
};

/// A row for each capacity, with the share of the lookups that each policy finds. Where Belady's
/// optimum is among several policies, the best of the others and its distance to the optimum.
Table cache_table(const FoundInCaches& found, const CachesOfTrace& caches,
                  const CacheTablesOptions& options);

}  // namespace tiersim
