#pragma once
// What `tiersim report KIND SOURCE...` is given: configurations, which are run, records of `run
// --json`, and stores of `sweep`, told apart by what is in them. All become one PointTable.
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/render/table.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim::cli {

struct SourceOptions {
  std::vector<std::string> sources;  ///< files
  std::vector<std::string> set;      ///< over every configuration
  std::string sweep;                 ///< name of one, where a store has several; else its last
  std::vector<std::string> where;    ///< expressions of axes and metrics; only points where true
  bool configurations = false;       ///< records of stores have `config`, which takes time to make
};

/// SOURCE..., --set, --sweep and --where.
void add_sources(Verb kind, SourceOptions& options);

/// Runs and reads all of them. Throws Failure with every mistake; a configuration that does not fit
/// is a point with a problem. Points of several files have the column "configuration" first.
PointTable load_points(const SourceOptions& options, Evaluation evaluation = Evaluation::all);

/// A word as a shell takes it: as it is, or in quotes.
std::string shell_word(const std::string& text);

/// The command that runs a configuration with these settings, for a shell.
std::string run_command(const std::string& scenario, const std::vector<std::string>& set);

/// --format text|md|csv|tex|json, and its default.
void add_format(Verb kind, std::string& format);
/// To stdout, one after the other with a blank line between; `format` is none of "json".
void print_tables(const std::vector<Table>& tables, const std::string& format);

}  // namespace tiersim::cli
