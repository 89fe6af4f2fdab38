#pragma once
// The options of `tiersim sweep`, and what a run alone and one of several processes have in common.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/cli/command_line.hpp"
#include "sim/cli/sweep_text.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "sim/sweep/sweep_run.hpp"

namespace tiersim::cli {

struct SweepArguments {
  std::string spec;
  std::vector<std::string> set;
  std::string store;
  std::int64_t threads = 0;
  std::string shard = "1/1";
  bool resume = false;
  bool retry_failed = false;
  bool fail_fast = false;
  bool keep_going = false;
  bool dry_run = false;
  bool joined = false;  ///< --join, --mpi
  bool json = false;
};

/// Takes the sweep as the store has it, with the files of its start; false if the store lacks it.
/// Throws Failure for a sweep that is unfinished, without --resume.
bool adopt_stored(const SweepArguments& options, SweepPlan& plan, SweepStore& store);

/// Runs a shard, or the points that `how.claims` gives, into a store, which is made if it is
/// missing. `of_others`: points that other processes run, for the line of progress.
SweepSummary run_shard(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                       const std::filesystem::path& path, const std::atomic<bool>& stop,
                       const std::function<std::int64_t()>& of_others = {});

/// Prints the summary, and says what failed and how to go on.
ExitCode report(const SweepArguments& options, const SweepSummary& summary, bool interrupted);

Failure moved_away(const std::filesystem::path& path);

}  // namespace tiersim::cli
