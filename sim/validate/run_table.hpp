#pragma once
// Reader of a table of measured runs by its description (run_table_config.hpp): its rows as
// published runs, which published_score.hpp compares with their simulation.
#include <map>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/validate/published_runs.hpp"
#include "sim/validate/run_table_config.hpp"

namespace tiersim {

struct RunTable {
  PublishedRuns runs;
  std::map<std::string, std::int64_t> skipped;  ///< rows by the reason why they are left out
};

/// The rows of a table, or of results as JSON (run_json.hpp). Every mistake of the file, with its
/// line and column: a column that is missing or stands twice, a formula without a value, a result
/// that is no time, a name for the second time. A row of a list in JSON has the line of the list.
Expected<RunTable, Diagnostics> read_run_table(const std::string& file, std::string_view text,
                                               const RunTableConfig& config);

}  // namespace tiersim
