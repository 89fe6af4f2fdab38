#pragma once
// Check of a command trace against the rules of a DRAM. The checker shares no code with the
// scheduler: it has its own table of least distances, open rows and use of the data bus.
// `DramChecker(config.timings, shape, refresh).check(trace).violations` is 0 for a valid trace.
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/packet/dram/dram_command.hpp"
#include "hwmodels/packet/dram/dram_config.hpp"

namespace tiersim {

enum class DramScope : std::uint8_t { bank, group, rank, channel };

/// Least time in picoseconds from the `count`-th last `before` to an `after` of the same bank,
/// group, rank or pseudo channel.
struct DramRule {
  std::string_view name;
  DramCommandKind before, after;
  DramScope scope;
  int count;
  std::int64_t least_ps;
};

/// All rules. Times are rounded up to whole clocks, as the controller must do.
std::vector<DramRule> dram_rules(const DramTimings& timings);

struct DramViolation {
  std::string_view rule;
  DramCommand command;
  std::int64_t missing_ps = 0;  ///< by how much it is too early; 0 where it is not allowed at all
};

struct DramReport {
  std::int64_t commands = 0;
  std::int64_t violations = 0;
  std::vector<DramViolation> first;  ///< the first 20, by time
};

class DramChecker {
 public:
  DramChecker(const DramTimings& timings, const DramShape& shape, DramRefresh refresh);

  /// Checks the commands of one pseudo channel, in any order; those at equal times in the given
  /// order.
  DramReport check(DramTrace trace) const;

 private:
  std::vector<DramRule> rules_;
  std::size_t ranks_, groups_, banks_;  ///< total numbers
  DramRefresh refresh_;
  std::int64_t read_data_ps_, write_data_ps_, burst_ps_, gap_ps_, switch_ps_;
  std::int64_t refresh_every_ps_;  ///< longest time between refreshes of a rank or bank
};

}  // namespace tiersim
