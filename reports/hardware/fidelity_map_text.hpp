#pragma once
// The fidelity map as text: a table for each kind of hardware, with the largest differences between
// the three levels, the reasons for them, and the cost of a simulation.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/record/fidelity_map_record.hpp"

namespace tiersim {

/// Errors of one level against the packet level.
struct LevelErrors {
  double median = 0;  ///< of the magnitudes
  std::vector<const LevelRow*> worst_first;
};
LevelErrors errors_of(const FidelityMap& map, Fidelity level);

/// Number of workloads that must agree and do not.
std::int64_t disagreeing(const FidelityMap& map);

/// Three lines: the worst case of the analytic level, that of the flow level, and the number of
/// workloads that agree among those that must, which the tables mark with a star.
std::vector<std::string> summary_lines(const FidelityMap& map);

/// Costs of a simulation that a table shows.
enum class ShownCosts : std::uint8_t {
  packet,  ///< of the packet level only, which is the slow one: fits a terminal
  each,    ///< of the flow level and of the packet level
};
/// A table for each group, in the order of the map.
std::vector<Table> level_tables(const FidelityMap& map, ShownCosts costs);
/// Events and time for each simulated GB, for one workload of each packet model and for flows.
Table cost_table(const FidelityMap& map);
/// A row for each workload with unrounded numbers, as in hwmodels/levels.csv; figures read it, too.
Table level_data(const FidelityMap& map);
/// A row for each group: the median and the worst error of the analytic and of the flow level.
Table group_table(const FidelityMap& map);

/// The whole map as shown on a terminal.
std::string to_text(const FidelityMap& map);
/// The page hwmodels/LEVELS.md: the summary and the groups.
std::string to_markdown_page(const FidelityMap& map);
/// The page, then a table of workloads for each group, and the costs.
std::string to_markdown(const FidelityMap& map);
std::string to_json(const FidelityMap& map);

}  // namespace tiersim
