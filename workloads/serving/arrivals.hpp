#pragma once
// Gaps between the requests of an open process.
//
//   fixed_rate   1 / rate
//   poisson      exponential with mean 1 / rate
//   gamma        gamma distributed with mean 1 / rate and the coefficient of variation v: shape
//                1 / v^2 (Marsaglia and Tsang, ACM Transactions on Mathematical Software 26, 2000)
//
// The same bits on every platform. No gap depends on lengths: the stream is one of its own.
#include <cstdint>

#include "sim/base/rng.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// Standard normal, by inversion: one draw of the stream each, cut at 6.4 standard deviations.
double draw_normal(Rng& rng);
/// Gamma with this shape > 0 and scale 1.
double draw_gamma(Rng& rng, double shape);

class Arrivals {
 public:
  /// Of an open process.
  Arrivals(const ArrivalConfig& config, std::uint64_t seed);
  /// When the next request comes; the first one at time 0. Throws UnitOverflow after 106 days.
  SimTime next();

 private:
  ArrivalConfig config_;
  Rng rng_;
  std::int64_t made_ = 0;
  Duration last_{};  // since time 0
};

}  // namespace tiersim
