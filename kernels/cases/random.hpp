// Random inputs from a seed, the same on every machine. The distributions of <random> and
// logarithms differ between libraries, so neither is used.
#pragma once
#include <cstdint>

namespace tiersim::kernels {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // In [0, bound), bound far below 2^64.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  // In [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

  // Mean 0, variance 1, close to normal up to two deviations: the sum of the four 16-bit parts of
  // one draw. The magnitude is at most 3.47, so that tails never decide a test.
  float normal() {
    const std::uint64_t bits = next();
    const std::uint64_t sum =
        (bits & 0xffffU) + (bits >> 16U & 0xffffU) + (bits >> 32U & 0xffffU) + (bits >> 48U);
    return (static_cast<float>(sum) - 131070.0F) * 2.642852e-5F;  // sqrt(3) / 65536
  }

 private:
  std::uint64_t state_;
};

}  // namespace tiersim::kernels
