#pragma once
// The map of the three levels for readers: a table for each kind of hardware, what differs most,
// why, and what an answer takes.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/record/fidelity_map_record.hpp"

namespace tiersim {

/// Errors of one level against packets.
struct LevelErrors {
  double median = 0;  ///< magnitude
  std::vector<const LevelRow*> worst_first;
};
LevelErrors errors_of(const FidelityMap& map, Fidelity level);

/// Workloads that must agree and do not.
std::int64_t disagreeing(const FidelityMap& map);

/// Three lines: what is worst by analytic, what by flow, and how many of those held agree.
std::vector<std::string> summary_lines(const FidelityMap& map);

/// What a table says of the cost of answers.
enum class ShownCosts : std::uint8_t {
  packet,  ///< of packets, which is all that one waits for: fits a terminal
  each,    ///< of flow and of packets
};
/// One for each group, in the order of the map.
std::vector<Table> level_tables(const FidelityMap& map, ShownCosts costs);
/// Events and time for each simulated GB, for a workload of each packet model and for flows.
Table cost_table(const FidelityMap& map);
/// A row for each workload, in numbers: for figures.
Table level_data(const FidelityMap& map);

/// All of it as a terminal shows it; the same as a document; {cases, summary}.
std::string to_text(const FidelityMap& map);
std::string to_markdown(const FidelityMap& map);
std::string to_json(const FidelityMap& map);

}  // namespace tiersim
