#pragma once
// What `tiersim sweep` says before and after it ran.
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
  double seconds = 0;  ///< that this run took; on the terminal only
  std::string name = {};
  std::string digest = {};
  // in the store, of the sweep
  std::int64_t points = 0;
  std::int64_t ok = 0;
  std::int64_t infeasible = 0;
  std::int64_t failed = 0;
  std::vector<SpaceColumn> columns = {};
  std::optional<StoredPoint> failure = {};  ///< the first of them by position
};

/// Fills what the store knows.
void summarise(SweepStore& store, const StoredSweep& sweep, SweepSummary& summary);

std::string to_text(const SweepSummary& summary);
/// One object, without times, ending in a newline.
std::string to_json(const SweepSummary& summary);
/// The first point that failed, which there is: position, labels and why.
std::string first_failure(const SweepSummary& summary);

/// Points, axes, and about how long it takes, from a few points that are timed and not kept.
std::string dry_run_text(SweepPlan& plan, const SweepOptions& options, bool json);

}  // namespace tiersim::cli
