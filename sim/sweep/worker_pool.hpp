#pragma once
// Threads that evaluate points. Points go in one after the other, outcomes come out in batches, in
// the order in which they became ready; nothing that is stored depends on it.
//
//   WorkerPool pool(threads, make_work);
//   std::thread producer([&] { while (more) if (!pool.push(next)) break; pool.close(); });
//   for (auto batch = pool.take(); !batch.empty(); batch = pool.take()) store.write(sweep, batch);
//
// Outcomes gather for the next batch while one is being written, and some milliseconds more: a
// commit for each slow point, and one for many fast ones.
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/sweep/store.hpp"

namespace tiersim {

class WorkerPool {
 public:
  static constexpr std::size_t kMostWaiting = 4096;  ///< points and outcomes

  using Work = std::function<PointOutcome(const SpacePoint&)>;

  /// Each thread makes its own `Work`, which may remember what it did before.
  WorkerPool(std::size_t threads, std::function<Work()> make_work);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Stops, and waits for what is being worked on.
  ~WorkerPool();

  /// Waits while many points and outcomes are waiting already, so whoever pushes and takes in one
  /// thread takes in between (kMostWaiting). False after stop().
  bool push(SpacePoint point);
  /// No more points follow.
  void close();
  /// Points that nobody has begun are dropped.
  void stop();
  /// Waits for outcomes; none are left where it is empty. Throws what a worker threw.
  std::vector<StoredPoint> take();

 private:
  void serve();

  std::function<Work()> make_work_;
  std::mutex mutex_;
  std::condition_variable room_, points_ready_, outcomes_ready_;
  std::deque<SpacePoint> points_;
  std::vector<StoredPoint> outcomes_;
  std::size_t working_ = 0;
  bool closed_ = false;
  bool stopped_ = false;
  std::exception_ptr problem_;
  std::vector<std::jthread> threads_;
};

}  // namespace tiersim
