#pragma once
// Gaps between the requests of an open process.
//
//   fixed_rate   1 / rate
//   poisson      exponential with mean 1 / rate
//   gamma        gamma distributed with mean 1 / rate and the coefficient of variation v: shape
//                1 / v^2 (Marsaglia and Tsang, ACM Transactions on Mathematical Software 26, 2000)
//
// All platforms give the same bits. Gaps have a random stream of their own, so lengths do not
// change them.
#include <cstdint>

#include "sim/base/rng.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// A standard normal by inversion: one draw of the stream each, cut at 6.4 standard deviations.
double draw_normal(Rng& rng);
/// A gamma-distributed number with this shape > 0 and scale 1.
double draw_gamma(Rng& rng, double shape);

class Arrivals {
 public:
  /// `config` must be of an open process.
  Arrivals(const ArrivalConfig& config, std::uint64_t seed);
  /// Arrival of the next request; the first one is at time 0. Throws UnitOverflow after 106 days.
  SimTime next();

 private:
  ArrivalConfig config_;
  Rng rng_;
  std::int64_t made_ = 0;
  Duration last_{};  // since time 0
};

}  // namespace tiersim
