#pragma once
// The messages of `tiersim sweep` before and after a run.
#include <filesystem>
#include <optional>
#include <string>

#include "sim/sweep/sweep_plan.hpp"
#include "sim/sweep/sweep_run.hpp"

namespace tiersim::cli {

struct SweepSummary {
  std::filesystem::path store = {};
  Shard shard = {};
  SweepOutcome outcome = {};
  double seconds = 0;  ///< time of this run; shown on the terminal only
  std::string name = {};
  std::string digest = {};
  // counts of the sweep in the store
  std::int64_t points = 0;
  std::int64_t ok = 0;
  std::int64_t infeasible = 0;
  std::int64_t failed = 0;
  std::vector<SpaceColumn> columns = {};
  std::optional<StoredPoint> failure = {};  ///< the first one by position
};

/// Fills in the store's counts.
void summarise(SweepStore& store, const StoredSweep& sweep, SweepSummary& summary);

std::string to_text(const SweepSummary& summary);
/// One object, without times, ending in a newline.
std::string to_json(const SweepSummary& summary);
/// The first failed point, which must exist: position, labels and reason.
std::string first_failure(const SweepSummary& summary);

/// Points, axes, and an estimate of the run time from points whose results are discarded;
/// `planning`: seconds that the plan took to make.
std::string dry_run_text(SweepPlan& plan, const SweepOptions& options, double planning, bool json);

}  // namespace tiersim::cli
