#pragma once
// Runs what a store does not have of a sweep.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "sim/sweep/store.hpp"
#include "sim/sweep/sweep_plan.hpp"

namespace tiersim {

struct SweepOptions {
  std::size_t threads = 1;
  Shard shard = {};
  bool retry_failed = false;
  bool fail_fast = false;
};

/// Of the shard, while it runs.
struct SweepProgress {
  std::int64_t points = 0;    ///< in all; of a search, its budget
  std::int64_t before = 0;    ///< were in the store
  std::int64_t finished = 0;  ///< and are in the store now
  std::int64_t failed = 0;    ///< of these
};
using OnProgress = std::function<void(const SweepProgress&)>;

struct SweepOutcome {
  SweepProgress progress = {};
  bool complete = false;  ///< every point of the shard has a result
};

/// Evaluates points until all are done, `stop` is set, or one fails where that ends it. The sweep
/// of the plan is in the store. `progress` is called after each commit. Where a
/// search of very many points comes upon a file with mistakes late, its point has failed.
SweepOutcome run_sweep(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                       const std::atomic<bool>& stop, const OnProgress& progress);

}  // namespace tiersim
