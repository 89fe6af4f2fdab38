#pragma once
// Runs the points of a sweep that are not in the store.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "sim/sweep/point_claims.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/sweep_plan.hpp"

namespace tiersim {

struct SweepOptions {
  std::size_t threads = 1;
  Shard shard = {};
  bool retry_failed = false;
  bool fail_fast = false;
  /// Where several processes share the points of a grid: those that this one runs into its store.
  PointClaims* claims = nullptr;
  /// A store whose results are there already; the store of the run need not have them.
  SweepStore* known = nullptr;
};

/// Progress of the shard.
struct SweepProgress {
  std::int64_t points = 0;    ///< in total; for a search, its budget
  std::int64_t before = 0;    ///< in the store at the start
  std::int64_t finished = 0;  ///< in the store now
  std::int64_t failed = 0;    ///< among `finished`
};
using OnProgress = std::function<void(const SweepProgress&)>;

struct SweepOutcome {
  SweepProgress progress = {};
  /// Every point of the shard has a result; with claims, every point that was claimed.
  bool complete = false;
};

/// Evaluates points until all are done, `stop` is set, or one fails under fail-fast. The sweep of
/// the plan must be in the store. `progress` is called after each commit. In a search with very
/// many points, a file with mistakes may be found late; its point then fails.
SweepOutcome run_sweep(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                       const std::atomic<bool>& stop, const OnProgress& progress);

}  // namespace tiersim
