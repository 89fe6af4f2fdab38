#pragma once
// Several stores into one.
#include <filesystem>
#include <vector>

#include "sim/sweep/store.hpp"

namespace tiersim::cli {

struct MergedSweep {
  StoredSweep sweep = {};
  std::int64_t done = 0;  ///< points with a result
};

/// Adds all that `parts` have to `output`, and says what it has then. Throws Failure or StoreError.
std::vector<MergedSweep> merge_stores(const std::vector<std::filesystem::path>& parts,
                                      const std::filesystem::path& output);

}  // namespace tiersim::cli
