#pragma once
// The sources of `tiersim report KIND SOURCE...`: configurations, which are run, records of `run
// --json`, and stores of `sweep`, recognised by their contents. All become one PointTable.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/render/table.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/point_choice.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim::cli {

struct SourceOptions {
  std::vector<std::string> sources;  ///< files
  std::vector<std::string> set;      ///< settings over every configuration
  std::string sweep;                 ///< name of a sweep in a store; default: the last
  std::vector<std::string> where;    ///< conditions on axes and metrics, true for points to keep
  bool configurations = false;       ///< true adds `config` to stored records, which takes time
  /// About so many points of a single larger store are read (point_choice.hpp); 0: all.
  std::size_t points_max = 0;
  PointChoice::Besides besides = PointChoice::Besides::marked;
  bool limits = false;  ///< true finds the limits that stored servers and constraints state
  /// Replace those of the sweep, unless empty.
  std::vector<ReportObjective> objectives = {};
  /// Records of stores keep these metrics (full names), the objectives, and those that --where and
  /// constraints name. None: they keep everything.
  std::optional<std::vector<std::string>> metrics = {};
};

/// --points N, whose help says what a report shows of a store with more points.
void add_points_max(Verb kind, SourceOptions& options, const std::string& help);
/// Says on stderr that a report has a part of the points.
void tell_part(const PointTable& table);

/// SOURCE..., --set, --sweep and --where.
void add_sources(Verb kind, SourceOptions& options);

/// Runs and reads all sources. Throws Failure with every mistake; a configuration that does not fit
/// is a point with a problem. Points of several files have the column "configuration" first.
PointTable load_points(const SourceOptions& options, Evaluation evaluation = Evaluation::all);

/// A word for a shell, quoted if necessary.
std::string shell_word(const std::string& text);

/// The command that runs a configuration with these settings, for a shell.
std::string run_command(const std::string& scenario, const std::vector<std::string>& set);

/// --format text|md|csv|tex|json, and its default.
void add_format(Verb kind, std::string& format);
/// Prints tables to stdout with a blank line between them; `format` is not "json".
void print_tables(const std::vector<Table>& tables, const std::string& format);

}  // namespace tiersim::cli
