#pragma once
// Statistics of a simulation, which models keep themselves; the engine keeps none.
//
//   Tally waits;                         TimeWeighted length(engine.now());
//   waits.add(to_seconds(wait));         length.set(engine.now(), 3);
//   waits.mean(); waits.variance();      length.mean(engine.now());
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

/// Moments and extremes of single observations (Welford 1962, without cancellation).
class Tally {
 public:
  void add(double x) {
    ++count_;
    const double delta = x - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (x - mean_);
    if (x < min_) min_ = x;
    if (x > max_) max_ = x;
  }
  std::int64_t count() const { return count_; }
  /// 0 without observations.
  double mean() const { return mean_; }
  /// Sample variance (n - 1); 0 with fewer than two observations.
  double variance() const { return count_ < 2 ? 0.0 : squares_ / static_cast<double>(count_ - 1); }
  double stddev() const;
  /// +infinity without observations.
  double min() const { return min_; }
  /// -infinity without observations.
  double max() const { return max_; }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

/// Time average of a whole number that changes at instants, such as a queue's length or the servers
/// in use. The integral is exact (128 bits).
class TimeWeighted {
 public:
  explicit TimeWeighted(SimTime start, std::int64_t value = 0)
      : start_(start), since_(start), value_(value) {}
  /// `now` must not go back.
  void set(SimTime now, std::int64_t value) {
    integral_ += Int128{value_} * (now - since_).count();
    since_ = now;
    value_ = value;
    if (value > max_) max_ = value;
  }
  void add(SimTime now, std::int64_t change) { set(now, value_ + change); }
  std::int64_t value() const { return value_; }
  std::int64_t max() const { return max_; }
  /// Average from the start to `now`; the value itself if no time has passed.
  double mean(SimTime now) const;
  /// Starts a new average at `now`, as at the end of a warm-up; the value stays.
  void restart(SimTime now);

 private:
  SimTime start_;
  SimTime since_;
  std::int64_t value_;
  std::int64_t max_ = value_;
  Int128 integral_ = 0;
};

/// Confidence interval of the mean of a correlated stationary series, by the means of batches of
/// equal size (Law and Kelton, Simulation Modeling and Analysis, 9.5.3). When 2 `batches` are full,
/// they are merged in pairs, so that the memory is fixed and the batches grow with the run.
class BatchMeans {
 public:
  struct Interval {
    double mean;
    double half_width;  ///< of the 95 % interval; infinite with fewer than two full batches
  };

  /// There are at least `batches` (>= 2) batches after the first 2 * batches values.
  explicit BatchMeans(std::int64_t batches = 32);
  void add(double x);
  std::int64_t count() const { return count_; }
  /// The interval from the full batches.
  Interval interval() const;

 private:
  std::int64_t batches_;
  std::int64_t batch_size_ = 1;
  std::int64_t count_ = 0;
  std::int64_t in_open_ = 0;
  double open_sum_ = 0;
  std::vector<double> sums_;
};

}  // namespace tiersim
