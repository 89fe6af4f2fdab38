#pragma once
// The sources of `tiersim report KIND SOURCE...`: configurations, which are run, records of `run
// --json`, and stores of `sweep`, recognised by their contents. All become one PointTable.
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/render/table.hpp"
#include "sim/cli/command_line.hpp"
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
};

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
