#include "sim/serving/latency_histogram.hpp"

#include <algorithm>
#include <bit>

#include "sim/base/check.hpp"
#include "sim/serving/quantiles.hpp"

namespace tiersim {
namespace {

constexpr int kBits = 9;
constexpr std::int64_t kPerDoubling = std::int64_t{1} << kBits;

// Times below 2 * kPerDoubling have one bucket each; above, the leading kBits + 1 bits count.
std::size_t bucket_of(std::int64_t ps) {
  const auto value = static_cast<std::uint64_t>(ps);
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (kBits + 1));
  return static_cast<std::size_t>(shift) * kPerDoubling + static_cast<std::size_t>(value >> shift);
}

std::int64_t middle_of(std::size_t bucket) {
  constexpr auto kPer = static_cast<std::size_t>(kPerDoubling);
  if (bucket < 2 * kPer) return static_cast<std::int64_t>(bucket);
  const std::size_t shift = bucket / kPer - 1;
  const std::size_t low = (bucket - shift * kPer) << shift;
  return static_cast<std::int64_t>(low + (std::size_t{1} << shift) / 2);
}

}  // namespace

void LatencyHistogram::add(Duration time, std::int64_t count) {
  TS_EXPECTS(time >= Duration{} && count >= 0, time, count);
  if (count == 0) return;
  const std::size_t bucket = bucket_of(time.count());
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += count;
  min_ = count_ == 0 ? time : std::min(min_, time);
  max_ = std::max(max_, time);
  count_ += count;
  sum_ += Int128{time.count()} * count;
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  if (buckets_.size() < other.buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
}

double LatencyHistogram::mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_) * 1e-12;
}

double LatencyHistogram::quantile(std::int64_t percent) const {
  if (count_ == 0) return 0;
  const std::int64_t rank = nearest_rank(count_, percent);
  std::int64_t below = 0;
  std::size_t bucket = 0;
  while (below + buckets_[bucket] < rank) below += buckets_[bucket++];
  return to_seconds(std::clamp(Duration(middle_of(bucket)), min_, max_));
}

}  // namespace tiersim
