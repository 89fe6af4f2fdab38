#pragma once
// Measured runs of servers with the configurations that simulate them: from tables of runs
// (configs/run_tables) or from published runs.
#include <string>
#include <vector>

#include "sim/cli/command_line.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/serving/serving_config.hpp"
#include "sim/validate/published_score.hpp"

namespace tiersim::cli {

/// Options of every verb that reads tables of runs.
struct RunTableOptions {
  std::vector<std::string> files;
  std::string table;              ///< description; empty: aiconfigurator
  std::string config;             ///< serving file; empty: that of the description
  std::vector<std::string> only;  ///< names of groups; empty: all
  std::vector<std::string> set;   ///< defaults of every run, which keeps its own settings
};
void add_run_tables(Verb verb, RunTableOptions& options, const std::string& about_files);

/// Leaves the groups of these names, all where there is none. Throws Failure for a name that no
/// group has.
void keep_groups(const std::vector<std::string>& only, PublishedRuns& runs);

/// The rows of all files, in the groups that `options.only` names; those that are left out are
/// counted on stderr. Throws Failure with every mistake, and where no row is left.
PublishedRuns read_tables_of_runs(const RunTableOptions& options);

/// A mistake in the settings of a run, at the row of the table that the run comes from.
Diagnostic at_row(const PublishedRun& run, Diagnostic mistake);

/// A run with its configuration. Points into the PublishedRuns that it was made of.
struct MeasuredRun {
  const PublishedGroup* group = nullptr;
  const PublishedRun* run = nullptr;
  ServingConfig config;
};

/// The configuration of every run, `set` under its own settings. Throws Failure with every mistake
/// in any of them, each at its row.
std::vector<MeasuredRun> configured_runs(const PublishedRuns& runs,
                                         const std::vector<std::string>& set);

/// Simulates all runs, `jobs` at a time; 0 is one for each core.
std::vector<PublishedOutcome> simulate(const PublishedRuns& runs,
                                       const std::vector<MeasuredRun>& measured, std::int64_t jobs);

}  // namespace tiersim::cli
