#pragma once
// A histogram of times whose memory does not grow with how many there are. Buckets are single
// picoseconds up to 1024; from there on each doubling is cut into 512 of equal width (as
// HdrHistogram does), so the middle of a bucket is within 1/1024 of every time in it and quantiles
// are off by less than 0.1 %. Count, mean and extremes are exact.
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

class LatencyHistogram {
 public:
  /// Largest |quantile - exact| / exact.
  static constexpr double kRelativeError = 1.0 / 1024;

  /// `count` observations of `time`; neither is negative.
  void add(Duration time, std::int64_t count);
  void clear();

  std::int64_t count() const { return count_; }
  /// Seconds; 0 of nothing.
  double mean() const;
  /// The nearest-rank quantile, seconds: the least time that `percent` of all do not exceed. 0 of
  /// nothing. `percent`: 1 to 100.
  double quantile(std::int64_t percent) const;

 private:
  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0;
  Int128 sum_ = 0;
  Duration min_{};
  Duration max_{};
};

}  // namespace tiersim
