#include "sim/sweep/worker_pool.hpp"

#include <chrono>
#include <utility>

namespace tiersim {
namespace {

constexpr std::size_t kBatch = 256;

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, std::function<Work()> make_work)
    : make_work_(std::move(make_work)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkerPool::~WorkerPool() {
  stop();
}

bool WorkerPool::push(SpacePoint point) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return points_.size() + outcomes_.size() < kMostWaiting || stopped_; });
  if (stopped_) return false;
  points_.push_back(std::move(point));
  lock.unlock();
  points_ready_.notify_one();
  return true;
}

bool WorkerPool::wait_for_few(std::size_t most) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return points_.size() <= most || stopped_; });
  return !stopped_;
}

void WorkerPool::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  points_ready_.notify_all();
  outcomes_ready_.notify_all();
}

void WorkerPool::stop() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = stopped_ = true;
    points_.clear();
  }
  room_.notify_all();
  points_ready_.notify_all();
  outcomes_ready_.notify_all();
}

std::vector<StoredPoint> WorkerPool::take() {
  std::unique_lock lock(mutex_);
  const auto idle = [&] { return points_.empty() && working_ == 0; };
  outcomes_ready_.wait(lock, [&] { return !outcomes_.empty() || (closed_ && idle()); });
  // A commit costs about as much as a fast point, so several points share one.
  constexpr std::chrono::milliseconds kGather(5);
  outcomes_ready_.wait_for(lock, kGather, [&] { return outcomes_.size() >= kBatch || idle(); });
  std::vector<StoredPoint> out = std::exchange(outcomes_, {});
  if (out.empty() && problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
  lock.unlock();
  room_.notify_all();
  return out;
}

void WorkerPool::serve() {
  const Work work = make_work_();
  std::unique_lock lock(mutex_);
  for (;;) {
    points_ready_.wait(lock, [&] { return !points_.empty() || closed_; });
    if (points_.empty()) return;
    StoredPoint next{std::move(points_.front()), {}};
    points_.pop_front();
    ++working_;
    lock.unlock();
    room_.notify_one();
    std::exception_ptr problem;
    try {
      next.outcome = work(next.point);
    } catch (...) {
      problem = std::current_exception();
    }
    if (problem) stop();
    lock.lock();
    if (problem)
      problem_ = problem;
    else
      outcomes_.push_back(std::move(next));
    --working_;
    const bool last = points_.empty() && working_ == 0;
    if (last || outcomes_.size() == 1 || outcomes_.size() == kBatch) outcomes_ready_.notify_one();
  }
}

}  // namespace tiersim
