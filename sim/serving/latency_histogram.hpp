#pragma once
// A histogram of times in fixed memory. Buckets are single picoseconds up to 1024; from there on
// each doubling has 512 buckets of equal width (as in HdrHistogram). So the middle of a bucket is
// within 1/1024 of every time in it, and the error of quantiles is below 0.1 %. Count, mean and
// extremes are exact.
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

class LatencyHistogram {
 public:
  /// Largest |quantile - exact| / exact.
  static constexpr double kRelativeError = 1.0 / 1024;

  /// Adds `count` observations of `time`; both are at least 0.
  void add(Duration time, std::int64_t count);
  void add(const LatencyHistogram& other);

  std::int64_t count() const { return count_; }
  /// The mean in seconds; 0 without observations.
  double mean() const;
  /// The nearest-rank quantile in seconds: the least time that is at least as long as `percent` of
  /// all times. 0 without observations. `percent`: 1 to 100.
  double quantile(std::int64_t percent) const;

 private:
  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0;
  Int128 sum_ = 0;
  Duration min_{};
  Duration max_{};
};

}  // namespace tiersim
