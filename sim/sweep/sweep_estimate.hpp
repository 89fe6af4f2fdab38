#pragma once
// The time that a sweep will take, from a part of its points that are run as the sweep runs them:
// on its threads, into a store that is thrown away.
#include <cstdint>
#include <vector>

#include "sim/sweep/sweep_run.hpp"

namespace tiersim {

/// Places of points among `points` that stand for all of them, in batches to run one after another:
/// 16 points, then four times as many each time, while there are any; 5456 in all. The first k
/// places lie evenly between 0 and `points`, whatever k is, and follow no regular step, which might
/// always meet the same value of an axis. Each place is there once, and a batch is in order.
std::vector<std::vector<std::int64_t>> pilot_places(std::int64_t points);

/// What running a batch took.
struct PilotBatch {
  std::vector<double> seconds = {};  ///< of each point, on its thread
  double wall = 0;                   ///< of the batch, its results stored
};

struct SweepEstimate {
  double seconds = 0;      ///< of the whole sweep or its shard
  std::int64_t timed = 0;  ///< points that it rests on
  double error = 0;        ///< standard error of `seconds` from the differences between points
};

/// The time of `points` points. With many points a batch, it is that of the batches, which holds
/// all that threads, store and operating system do to each other; a last batch of few slow points
/// leaves threads idle, so that the points' own times count. Where others follow, the first batch
/// counts only by what it took longer than they did: it also reads the files, which happens once.
SweepEstimate estimate_of(const std::vector<PilotBatch>& batches, std::int64_t points,
                          std::size_t threads);

/// Runs batches for some seconds: at least twelve points, if that takes no longer than 20 s.
/// `planning`: seconds that the plan took to make, which a run takes as well.
SweepEstimate estimate_sweep(SweepPlan& plan, const SweepOptions& options, double planning);

}  // namespace tiersim
