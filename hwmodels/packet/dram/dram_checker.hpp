#pragma once
// Whether a command trace keeps the rules of a DRAM. The checker shares no code with the scheduler:
// it knows the table of least distances, which bank has which row open, and when the data bus is
// taken. `DramChecker(config.timings, shape, refresh).check(trace).violations` is 0 for a sound
// trace.
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/packet/dram/dram_command.hpp"
#include "hwmodels/packet/dram/dram_config.hpp"

namespace tiersim {

enum class DramScope : std::uint8_t { bank, group, rank };

/// From the `count`-th last `before` to an `after` of the same bank, group or rank pass at least
/// that many picoseconds.
struct DramRule {
  std::string_view name;
  DramCommandKind before, after;
  DramScope scope;
  int count;
  std::int64_t least_ps;
};

/// The table. Times are rounded up to whole clocks, as the controller must.
std::vector<DramRule> dram_rules(const DramTimings& timings);

struct DramViolation {
  std::string_view rule;
  DramCommand command;
  std::int64_t missing_ps = 0;  ///< how much too early; 0 where it must not come at all
};

struct DramReport {
  std::int64_t commands = 0;
  std::int64_t violations = 0;
  std::vector<DramViolation> first;  ///< up to 20 of them, by time
};

class DramChecker {
 public:
  DramChecker(const DramTimings& timings, const DramShape& shape, DramRefresh refresh);

  /// The commands of one pseudo channel, in any order; those at one time in the order given.
  DramReport check(DramTrace trace) const;

 private:
  std::vector<DramRule> rules_;
  std::size_t ranks_, groups_, banks_;  ///< all of them
  DramRefresh refresh_;
  std::int64_t read_data_ps_, write_data_ps_, burst_ps_, gap_ps_, switch_ps_;
  std::int64_t refresh_every_ps_;  ///< the longest that a rank or bank may wait
};

}  // namespace tiersim
