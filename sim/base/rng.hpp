#pragma once
// Random numbers that are the same on every platform: xoshiro256++ (Blackman and Vigna 2021) and
// own distributions, because those of the standard library and of Boost differ between releases.
//
//   Rng arrivals(config.seed, "arrivals");   // a stream of its own: adding one moves no other
//   const double gap = arrivals.exponential(1.0 / rate);
#include <array>
#include <cstdint>
#include <string_view>

namespace tiersim {

class Rng {
 public:
  /// The stream named `component` of the run's `seed`; streams of different names are independent.
  Rng(std::uint64_t seed, std::string_view component);

  /// 64 uniform bits.
  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// Uniform in (0, 1): never 0, so that its logarithm is finite.
  double uniform() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }
  /// Uniform in [0, n) without bias; n > 0.
  std::uint64_t below(std::uint64_t n);
  /// Exponential with the given mean.
  double exponential(double mean);

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, unsigned k) {
    return x << k | x >> (64U - k);
  }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace tiersim
