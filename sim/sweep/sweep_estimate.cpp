#include "sim/sweep/sweep_estimate.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>

#include "sim/sweep/point_evaluator.hpp"
#include "sim/sweep/search.hpp"
#include "sim/sweep/worker_pool.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// A folder that is gone with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "tiersim-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw StoreError(name + ": " + std::generic_category().message(errno));
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

double seconds_to_compact(const fs::path& store) {
  const auto began = Clock::now();
  compact(store);
  return seconds_since(began);
}

// The points at these places among those of the shard; for a search, among its first ones.
std::vector<std::vector<SpacePoint>> pilot_points(const SweepPlan& plan, const Shard& shard,
                                                  std::int64_t points) {
  std::vector<std::vector<SpacePoint>> out;
  if (plan.config().search) {
    Search search(plan.space(), *plan.config().search, plan.objectives().directions());
    const std::vector<SpacePoint> first = search.next();
    for (const auto& places : pilot_places(static_cast<std::int64_t>(first.size()))) {
      auto& batch = out.emplace_back();
      for (const std::int64_t place : places)
        batch.push_back(first[static_cast<std::size_t>(place)]);
    }
    return out;
  }
  std::vector<std::pair<std::int64_t, std::size_t>> wanted;  // position, batch
  const auto batches = pilot_places(points);
  out.resize(batches.size());
  for (std::size_t b = 0; b < batches.size(); ++b)
    for (const std::int64_t place : batches[b])
      wanted.emplace_back(shard.index - 1 + place * shard.count, b);
  std::ranges::sort(wanted);
  auto next = wanted.begin();
  plan.space().for_each([&](const SpacePoint& point) {
    if (next == wanted.end()) return false;
    if (point.position == next->first) out[next++->second].push_back(point);
    return true;
  });
  return out;
}

class Pilot {
 public:
  Pilot(SweepPlan& plan, SweepStore& store, std::size_t threads)
      : plan_(plan), store_(store), pool_(threads, [this]() -> WorkerPool::Work {
          auto evaluator = std::make_shared<PointEvaluator>(plan_);
          return
              [this, evaluator](const SpacePoint& point) { return this->timed(*evaluator, point); };
        }) {}

  // Runs the batch, or as much of it as begins before `deadline`.
  PilotBatch run(const std::vector<SpacePoint>& points, std::size_t threads,
                 Clock::time_point deadline) {
    const auto began = Clock::now();
    std::size_t waiting = 0;
    const std::size_t ahead = std::min(points.size(), 64 * threads);
    for (const SpacePoint& point : points) {
      // Slow points are given out one at a time, so that few run on after the deadline.
      if (waiting >= (is_slow() ? threads : ahead)) waiting -= take();
      if (Clock::now() > deadline) break;
      Diagnostics ignored;  // a point without its files fails soon
      if (!plan_.prepare(point, ignored)) continue;
      pool_.push(point);
      ++waiting;
    }
    while (waiting > 0) waiting -= take();
    const std::scoped_lock lock(mutex_);
    sum_ = 0;
    return {std::exchange(seconds_, {}), seconds_since(began)};
  }

 private:
  bool is_slow() {
    constexpr double kSlow = 0.01;
    const std::scoped_lock lock(mutex_);
    return sum_ >= kSlow * static_cast<double>(seconds_.size());  // also before the first
  }
  std::size_t take() {
    const std::vector<StoredPoint> batch = pool_.take();
    store_.write(plan_.sweep(), batch);
    return batch.size();
  }
  PointOutcome timed(PointEvaluator& evaluator, const SpacePoint& point) {
    const auto began = Clock::now();
    PointOutcome out = evaluator.outcome(point, [](const std::string&) { return true; });
    const std::scoped_lock lock(mutex_);
    seconds_.push_back(seconds_since(began));
    sum_ += seconds_.back();
    return out;
  }

  SweepPlan& plan_;
  SweepStore& store_;
  std::mutex mutex_;
  std::vector<double> seconds_;
  double sum_ = 0;
  WorkerPool pool_;  // last, since its threads use all other members
};

}  // namespace

std::vector<std::vector<std::int64_t>> pilot_places(std::int64_t points) {
  constexpr std::int64_t kFirst = 16;
  constexpr std::int64_t kLast = 4096;
  std::vector<std::vector<std::int64_t>> out;
  std::set<std::int64_t> taken;
  std::int64_t k = 0;
  for (std::int64_t size = kFirst; size <= kLast; size *= 4) {
    std::vector<std::int64_t> batch;
    // Multiples of the golden ratio, modulo 1, fill the interval evenly after any number of them.
    for (std::int64_t tries = 0; std::cmp_less(batch.size(), size) && tries < 2 * size; ++tries) {
      constexpr double kGolden = 0.6180339887498949;
      const double share = static_cast<double>(k) * kGolden + 0.5;
      ++k;
      const auto place =
          static_cast<std::int64_t>((share - std::floor(share)) * static_cast<double>(points));
      if (place < points && taken.insert(place).second) batch.push_back(place);
    }
    // Of a small sweep, all that the sequence has not met.
    if (points <= kLast && std::cmp_less(batch.size(), size))
      for (std::int64_t place = 0; place < points && std::cmp_less(batch.size(), size); ++place)
        if (taken.insert(place).second) batch.push_back(place);
    if (batch.empty()) break;
    std::ranges::sort(batch);
    out.push_back(std::move(batch));
  }
  return out;
}

SweepEstimate estimate_of(const std::vector<PilotBatch>& batches, std::int64_t points,
                          std::size_t threads) {
  std::vector<double> seconds;
  double wall = 0;
  const std::size_t first = batches.size() > 1 && !batches[1].seconds.empty() ? 1 : 0;
  for (std::size_t b = first; b < batches.size(); ++b) {
    seconds.insert(seconds.end(), batches[b].seconds.begin(), batches[b].seconds.end());
    wall += batches[b].wall;
  }
  if (seconds.empty()) return {};
  const auto n = static_cast<double>(seconds.size());
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / n;
  double squares = 0;
  for (const double s : seconds) squares += (s - mean) * (s - mean);
  constexpr std::size_t kMany = 32;  // a thread: the last points of a batch are few beside them
  const bool many = seconds.size() >= kMany * threads;
  const auto all = static_cast<double>(points);
  const double each = many ? wall / n : mean / static_cast<double>(threads);
  const double relative = mean > 0 && n > 1 ? std::sqrt(squares / (n - 1) / n) / mean : 0;
  double once = 0;
  if (first == 1) {
    const PilotBatch& reading = batches.front();
    const double took = many
                            ? reading.wall
                            : std::accumulate(reading.seconds.begin(), reading.seconds.end(), 0.0) /
                                  static_cast<double>(threads);
    once = std::max(0.0, took - each * static_cast<double>(reading.seconds.size()));
  }
  return {.seconds = each * all + once,
          .timed = static_cast<std::int64_t>(seconds.size()),
          .error = each * all * relative * std::sqrt(std::max(0.0, 1 - n / std::max(all, n)))};
}

SweepEstimate estimate_sweep(SweepPlan& plan, const SweepOptions& options, double planning) {
  constexpr double kPatience = 3;  // after which the next batch is not begun
  constexpr double kLongest = 20;  // for the first points, where they are slow
  constexpr std::int64_t kFewest = 12;
  const std::int64_t all =
      plan.config().search ? plan.config().search->budget : *plan.sweep().points;
  const std::int64_t points = options.shard.points(all);
  const auto batches = pilot_points(plan, options.shard, points);
  const ScratchFolder folder;
  const fs::path path = folder.path() / "pilot.db";
  std::vector<PilotBatch> done;
  std::int64_t timed = 0;
  double starting = 0;  // until the first point is run
  {
    const auto opened = Clock::now();
    SweepStore store(path, SweepStore::Access::write);
    const SweepInputs inputs = plan.inputs();
    StoredSweep sweep = plan.sweep();
    sweep.sweep = store.add(sweep, inputs);
    plan.adopt(sweep, inputs);
    Pilot pilot(plan, store, options.threads);
    starting = seconds_since(opened);
    const auto began = Clock::now();
    const auto within = [&](double seconds) {
      return began +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    };
    for (const std::vector<SpacePoint>& batch : batches) {
      done.push_back(
          pilot.run(batch, options.threads, within(timed < kFewest ? kLongest : kPatience)));
      timed += static_cast<std::int64_t>(done.back().seconds.size());
      if (timed >= kFewest && Clock::now() > within(kPatience)) break;
    }
    store.end_writing();
  }
  SweepEstimate out = estimate_of(done, points, options.threads);
  // Ordering the rows takes a time of its own, and one for each point.
  const fs::path empty = folder.path() / "empty.db";
  { const SweepStore store(empty, SweepStore::Access::write); }
  const double fixed = seconds_to_compact(empty);
  out.seconds += planning + starting + fixed;
  if (timed > 0)
    out.seconds += std::max(0.0, seconds_to_compact(path) - fixed) * static_cast<double>(points) /
                   static_cast<double>(timed);
  return out;
}

}  // namespace tiersim
