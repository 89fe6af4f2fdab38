#pragma once
// Finds by simulation the largest or smallest value of a setting at which several goals hold, or
// the value at which a metric is best while they hold: `tiersim solve --require ... --maximize
// ...`.
//
//   const auto goal = parse_goal("ttft.p99<2s");
//   const GoalsAnswer found = answer_goals(runner, {point, range, {*goal}, true});
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/runner/point_runner.hpp"
#include "sim/runner/setting_range.hpp"
#include "sim/study/point_means.hpp"

namespace tiersim {

/// A limit of a metric.
struct Goal {
  std::string metric = {};    ///< full name, "ttft_s.p99"
  std::string relation = {};  ///< "<", "<=", ">" or ">="
  double limit = 0;           ///< in the metric's unit

  /// The distance from the limit relative to it, above 0 where the goal does not hold. Where the
  /// limit is 0, the distance itself.
  double excess(double value) const;
};

/// Parses "ttft.p99 < 2 s", with or without spaces; the metric by any of its names. The error names
/// the mistake.
Expected<Goal> parse_goal(const std::string& text);

struct GoalsQuestion {
  Point point;
  SettingRange range;
  std::vector<Goal> goals;  ///< one at least
  bool maximize = true;     ///< else minimize
  /// The metric whose best value is asked for; empty: the setting itself.
  std::string metric = {};
  std::int64_t seeds = 1;
};

/// A metric at a value of the setting.
struct GoalValue {
  std::string metric = {};
  SeedMean value = {};
  std::optional<Goal> goal = {};
  bool holds = true;
};

struct GoalsAnswer {
  std::string outcome = {};  ///< "found", "none" (no sample holds) or "cannot run"
  std::string value = {};    ///< of the setting, in YAML; where none, the end that is nearest
  std::string display = {};  ///< the same for people
  std::vector<GoalValue> values = {};  ///< at `value`: the metric asked for, then the goals
  bool at_end = false;                 ///< the goals hold up to the end of the range
  /// The next value, at which a goal does not hold; none at an end, or for the best of a metric.
  std::optional<std::string> next = {};
  std::vector<GoalValue> next_values = {};
  /// With seeds: the answers for the less and the more favourable ends of the metrics' intervals.
  std::optional<std::array<std::string, 2>> interval = {};
  /// The parts of the range in whose samples all goals hold, for people.
  std::vector<std::array<std::string, 2>> holding = {};
  int evaluations = 0;  ///< values of the setting; each runs once a seed
  std::array<std::string, 2> searched = {};
  std::string left_out = {};
  std::shared_ptr<const RunRecord> record = {};  ///< at `value`, of the first seed
  std::string problem = {};
};

/// A point that does not fit gives the outcome "cannot run"; mistakes throw Failure.
///
/// The setting itself: solve() with samples for the largest excess of the goals. A metric: the best
/// of the samples, then of the midpoints beside the best so far, until neighbours are within 1 %.
GoalsAnswer answer_goals(PointRunner& runner, const GoalsQuestion& question);

}  // namespace tiersim
