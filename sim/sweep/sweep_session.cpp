#include "sim/sweep/sweep_session.hpp"

#include <memory>

namespace tiersim {

SweepSession::SweepSession(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                           const std::atomic<bool>& stop, const OnProgress& progress)
    : plan_(plan),
      store_(store),
      options_(options),
      stop_(stop),
      progress_(progress),
      pool_(options.threads, [this]() -> WorkerPool::Work {
        auto evaluator = std::make_shared<PointEvaluator>(plan_);
        return [this, evaluator](const SpacePoint& point) { return this->work(*evaluator, point); };
      }) {
  const std::scoped_lock lock(claims_);
  const auto keep = [this](const std::string& id) { claimed_.insert(ResultId::of(id)); };
  store_.ids(plan_.sweep(), keep);
  if (options_.known != nullptr) options_.known->ids(plan_.sweep(), keep);
}

bool SweepSession::claim(const std::string& id) {
  const std::scoped_lock lock(claims_);
  return claimed_.insert(ResultId::of(id)).second;
}

PointOutcome SweepSession::work(PointEvaluator& evaluator, const SpacePoint& point) {
  // The thread that claims the id first stores the result.
  PointOutcome outcome =
      evaluator.outcome(point, [this](const std::string& id) { return claim(id); });
  if (outcome.status == PointStatus::error && options_.fail_fast) {
    failed_fast_ = true;
    pool_.stop();
  }
  return outcome;
}

void SweepSession::set_before(std::int64_t points, std::int64_t before) {
  outcome_.progress.points = points;
  outcome_.progress.before = before;
  outcome_.progress.finished = before;
}

std::size_t SweepSession::store_some() {
  const std::vector<StoredPoint> batch = pool_.take();
  if (!batch.empty()) store_batch(batch);
  return batch.size();
}

void SweepSession::store_failure(const SpacePoint& point, const Diagnostics& diagnostics) {
  store_batch({{point, failed_point(point_of(point), diagnostics)}});
}

void SweepSession::store_batch(const std::vector<StoredPoint>& batch) {
  store_.write(plan_.sweep(), batch);
  for (const StoredPoint& point : batch) {
    if (point.outcome.status != PointStatus::error) continue;
    ++outcome_.progress.failed;
  }
  outcome_.progress.finished += static_cast<std::int64_t>(batch.size());
  if (ending()) pool_.stop();
  if (progress_) progress_(outcome_.progress);
}

}  // namespace tiersim
