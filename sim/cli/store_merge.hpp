#pragma once
// Merges several stores into one.
#include <filesystem>
#include <vector>

#include "sim/sweep/store.hpp"

namespace tiersim::cli {

struct MergedSweep {
  StoredSweep sweep = {};
  std::int64_t done = 0;  ///< points with a result
};

/// Removes a store with the files that SQLite keeps beside it while it is open.
void remove_store(const std::filesystem::path& path);

/// Adds the contents of `parts` to `output`, and returns its sweeps. Throws Failure or StoreError.
std::vector<MergedSweep> merge_stores(const std::vector<std::filesystem::path>& parts,
                                      const std::filesystem::path& output);

}  // namespace tiersim::cli
