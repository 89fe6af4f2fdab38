#pragma once
// Threads that evaluate points. Points go in one by one; outcomes come out in batches, in the order
// of their completion, on which nothing stored depends.
//
//   WorkerPool pool(threads, make_work);
//   std::thread producer([&] { while (more) if (!pool.push(next)) break; pool.close(); });
//   for (auto batch = pool.take(); !batch.empty(); batch = pool.take()) store.write(sweep, batch);
//
// Outcomes gather for the next batch while one is being written, and for some milliseconds more: a
// slow point has a commit of its own, and many fast points share one.
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

  /// Each thread makes its own `Work`, which may keep state between points.
  WorkerPool(std::size_t threads, std::function<Work()> make_work);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Stops, and waits for the points in work.
  ~WorkerPool();

  /// Waits if many points and outcomes are pending (kMostWaiting), so a thread that both pushes and
  /// takes must take in between. Returns false after stop().
  bool push(SpacePoint point);
  /// Waits until at most `most` points wait for a thread. Returns false after stop().
  bool wait_for_few(std::size_t most);
  /// Declares that no more points follow.
  void close();
  /// Drops the points that no thread has begun.
  void stop();
  /// Waits for outcomes; an empty result means that none are left. Throws a worker's exception.
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
