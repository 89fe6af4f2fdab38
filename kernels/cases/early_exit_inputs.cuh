// Common parts of the early-exit cases: random bf16 arrays, their bits, errors in the 2-norm.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/cases/parallel.hpp"
#include "kernels/cases/random.hpp"
#include "kernels/device/fill.cuh"
#include "kernels/device/platform.cuh"
#include "kernels/runtime/array.cuh"

namespace tiersim::kernels {

inline std::size_t count_of(std::int64_t n) {
  return static_cast<std::size_t>(n);
}
inline std::uint16_t bits_of(bf16 value) {
  return std::bit_cast<std::uint16_t>(value);
}
inline const std::uint16_t* bits_of(const std::vector<std::uint16_t>& values, std::int64_t first) {
  return values.data() + first;
}

// Near normal with this standard deviation. Large arrays repeat the numbers: the period is a prime,
// so that no two rows are equal.
inline std::vector<std::uint16_t> random_bf16(std::int64_t count, float deviation,
                                              std::uint64_t seed) {
  std::vector<std::uint16_t> bits(count_of(count));
  const std::int64_t drawn = std::min(count, kRepeatedAfter);
  const auto draw = [&bits, deviation, seed](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const float normal = random_normal_at(seed, static_cast<std::uint64_t>(i));
      bits[count_of(i)] = bits_of(__float2bfloat16(deviation * normal));
    }
  };
  in_parallel(drawn, draw, 1 << 16);
  repeat(bits, drawn);
  return bits;
}
inline const bf16* as_bf16(const DeviceArray<std::uint16_t>& array) {
  return reinterpret_cast<const bf16*>(array.data());
}
inline bf16* as_bf16(DeviceArray<std::uint16_t>& array) {
  return reinterpret_cast<bf16*>(array.data());
}

// Relative error of many numbers in the 2-norm.
class RelativeError {
 public:
  void add(double got, double expected) {
    wrong_ += (got - expected) * (got - expected);
    size_ += expected * expected;
    ++count_;
  }
  double value() const { return size_ > 0 ? std::sqrt(wrong_ / size_) : std::sqrt(wrong_); }
  // The error scaled from `tolerance` to the tolerance that a case reports.
  double scaled(double tolerance, double reported) const { return value() * reported / tolerance; }
  std::int64_t count() const { return count_; }

 private:
  double wrong_ = 0;
  double size_ = 0;
  std::int64_t count_ = 0;
};

// The larger of two errors; NaN is the largest.
inline double worse(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

// At most `most` numbers of [0, count): all of them, or a draw with repeats from a seed.
inline std::vector<std::int64_t> sample_of(std::int64_t count, std::int64_t most,
                                           std::uint64_t seed) {
  std::vector<std::int64_t> sample(count_of(std::min(count, most)));
  Random random(seed);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i] = count <= most
                    ? static_cast<std::int64_t>(i)
                    : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count)));
  }
  return sample;
}

}  // namespace tiersim::kernels
