#pragma once
// Timings from known parameters, in the form of a card's: for tests of refusals.
#include <algorithm>
#include <cmath>
#include <string>

#include "hwmodels/calibrate/read/timing.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::testing {

inline constexpr double kBandwidth = 4.0e12;  // of the truth; the raw peak is 4.8e12
inline constexpr double kFlopRate = 800e12;   // of the truth; the raw peak is 989e12
inline constexpr double kLaunch = 3e-6;

/// t0 + ((bytes/bw)^p + (flops/peak)^p)^(1/p)
inline double true_time(double bytes, double flops, double p) {
  const double move = bytes / kBandwidth;
  const double compute = flops / kFlopRate;
  const double longer = std::max(move, compute);
  const double shorter = std::min(move, compute);
  if (longer <= 0) return kLaunch;
  if (shorter <= 0) return kLaunch + longer;
  return kLaunch + longer * portable_pow(1 + portable_pow(shorter / longer, p), 1 / p);
}

/// Standard normal: twelve uniform numbers, less their mean.
inline double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

class SyntheticTimings {
 public:
  /// Each case has noise between a quarter of the largest and the largest.
  explicit SyntheticTimings(std::uint64_t seed, double largest_noise = 0.02)
      : rng_(seed, "synthetic timings"), largest_noise_(largest_noise) {
    set_.file = "timings";
    set_.format = "campaign";
    set_.data_class = "synthetic";
    set_.l2_bytes = 60e6;
    set_.peaks = {{"memory", 4.8e12, true, NumberClass::specification, "data sheet"},
                  {"l2", 10e12, true, NumberClass::assumed, "5120 B a clock"},
                  {"flops.bf16", 989e12, true, NumberClass::specification, "data sheet"}};
    copies();
    products();
    decodes();
  }

  TimingSet& set() { return set_; }

 private:
  // Its noise is stated by an interval of 1.96 standard deviations to both sides.
  void add(TimingCase timing, double p) {
    const double noise = largest_noise_ * (0.25 + 0.75 * rng_.uniform());
    timing.seconds = true_time(timing.work.memory_bytes, timing.work.flops, p) *
                     portable_exp(noise * normal(rng_));
    timing.low = timing.seconds * portable_exp(-1.96 * noise);
    timing.high = timing.seconds * portable_exp(1.96 * noise);
    timing.dtype = "bf16";
    timing.where = "timings:" + std::to_string(set_.cases.size() + 1);
    set_.cases.push_back(std::move(timing));
  }
  // 64 Ki to 256 Mi elements, read and written.
  void copies() {
    for (int i = 0; i < 13; ++i) {
      const std::int64_t elements = std::int64_t{65536} << i;
      TimingCase timing;
      timing.name = "copy." + std::to_string(elements);
      timing.kernel = "copy";
      timing.shape = {{"elements", elements}};
      timing.work.memory_bytes = 4.0 * static_cast<double>(elements);
      add(std::move(timing), 1);
    }
  }
  // Products whose bytes and FLOPs grow differently.
  void products() {
    const double p = 1 + 3 * rng_.uniform();
    for (int i = 0; i < 20; ++i) {
      const auto m = static_cast<std::int64_t>(1 + rng_.below(512));
      const std::int64_t n = std::int64_t{512} << rng_.below(6);
      TimingCase timing;
      timing.name = "product." + std::to_string(i);
      timing.kernel = "product";
      timing.shape = {{"m", m}, {"n", n}, {"k", n}};
      const auto rows = static_cast<double>(m);
      const auto side = static_cast<double>(n);
      timing.work.memory_bytes = 2 * (2 * rows * side + side * side);
      timing.work.flops = 2 * rows * side * side;
      add(std::move(timing), p);
    }
  }
  // Decodes of 1 to 64 sequences and 1 Ki to 32 Ki rows.
  void decodes() {
    const double p = 1 + 3 * rng_.uniform();
    for (const std::int64_t batch : {1, 4, 16, 64}) {
      for (const std::int64_t context : {1024, 4096, 8192, 16384, 32768}) {
        TimingCase timing;
        timing.name = "decode.b" + std::to_string(batch) + "-s" + std::to_string(context);
        timing.kernel = "decode";
        timing.shape = {{"batch", batch}, {"context", context}};
        const auto rows = static_cast<double>(batch * context);
        timing.work.memory_bytes = 1152 * rows + 147456 * static_cast<double>(batch);
        timing.work.flops = 139264 * rows;
        add(std::move(timing), p);
      }
    }
  }

  Rng rng_;
  double largest_noise_;
  TimingSet set_;
};

inline TimingCase& case_named(TimingSet& set, const std::string& name) {
  return *std::ranges::find(set.cases, name, &TimingCase::name);
}

}  // namespace tiersim::testing
