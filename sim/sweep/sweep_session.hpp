#pragma once
// The common part of grid and search runs: workers that simulate no configuration twice, and the
// store that takes their results.
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "sim/sweep/point_evaluator.hpp"
#include "sim/sweep/result_id.hpp"
#include "sim/sweep/sweep_run.hpp"
#include "sim/sweep/worker_pool.hpp"

namespace tiersim {

class SweepSession {
 public:
  SweepSession(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
               const std::atomic<bool>& stop, const OnProgress& progress);

  WorkerPool& pool() { return pool_; }
  /// True after Ctrl-C, or after a failure under --fail-fast.
  bool ending() const { return stop_ || failed_fast_; }
  /// Waits for points and stores them; returns their number, or 0 if nothing is left to wait for.
  std::size_t store_some();
  /// Stores a point whose files have mistakes.
  void store_failure(const SpacePoint& point, const Diagnostics& diagnostics);
  void set_before(std::int64_t points, std::int64_t before);

  SweepOutcome& outcome() { return outcome_; }

 private:
  PointOutcome work(PointEvaluator& evaluator, const SpacePoint& point);
  void store_batch(const std::vector<StoredPoint>& batch);
  bool claim(const std::string& id);

  SweepPlan& plan_;
  SweepStore& store_;
  const SweepOptions& options_;
  const std::atomic<bool>& stop_;
  const OnProgress& progress_;
  std::atomic<bool> failed_fast_ = false;
  SweepOutcome outcome_;
  std::mutex claims_;
  std::unordered_set<ResultId, ResultIdHash> claimed_;  // in the store, or in work
  WorkerPool pool_;  // last, since its threads use all other members
};

}  // namespace tiersim
