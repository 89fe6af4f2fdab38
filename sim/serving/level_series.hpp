#pragma once
// Whole numbers that change at instants, such as the requests in a server, over a window of time:
// their means and maxima. A value counts if it lasts: of several changes at one instant, only the
// last value does, so that their order has no effect.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/stats.hpp"

namespace tiersim {

/// A level changes by `by` at the instant `at`.
struct LevelChange {
  SimTime at{};
  std::int64_t by = 0;
  std::uint32_t level = 0;  ///< index of the level
};

class LevelSeries {
 public:
  explicit LevelSeries(std::size_t levels);

  /// The window begins or ends at this instant, which is not before the latest change.
  void open(SimTime at) { opens_ = at; }
  void close(SimTime at) { closes_ = at; }
  /// Changes come in order of time.
  void change(const LevelChange& change);
  /// Ends at `end`, before the results are read.
  void finish(SimTime end);

  /// Over the window, which ends at `end` of finish() where it is not closed.
  const TimeWeighted& of(std::size_t level) const { return series_[level]; }

 private:
  void settle(SimTime next);

  std::vector<TimeWeighted> series_;
  std::vector<std::int64_t> values_;  // with the changes at the instant `now_`
  SimTime now_{};
  std::optional<SimTime> opens_;
  std::optional<SimTime> closes_;
  bool opened_ = false;
};

/// Sorts consecutive runs, each of which is in order of time, into one; `begins` has their first
/// indices. The order at one instant is arbitrary.
void merge_runs(std::vector<LevelChange>& changes, std::vector<std::size_t> begins);

}  // namespace tiersim
