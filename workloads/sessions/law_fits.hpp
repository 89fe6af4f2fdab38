#pragma once
// Laws that come closest to observed values, by maximum likelihood, and how far off they are.
//
//   lognormal    median and sigma: mean and standard deviation of the logarithms; the range is that
//                of the values
//   geometric    mean: the mean of the values
//   exponential  mean: the mean of the values
//                (a lognormal pause: of those above 0)
//   Zipf         exponent: of the number of values of each kind, in falling order
//
// Where two laws are possible, the one with the lesser Kolmogorov-Smirnov distance is taken. Values
// that are all alike have the fixed law.
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/sessions/session_config.hpp"

namespace tiersim {

/// Each of these takes at least one value.
LengthConfig fit_length(std::span<const std::int64_t> values);
CountConfig fit_count(std::span<const std::int64_t> values);
PauseConfig fit_pause(std::span<const Duration> values);
/// `counts` fall; 0 where there are fewer than two kinds. From 0 to 5.
double fit_zipf(std::span<const std::int64_t> counts);

/// The largest difference between the shares of `a` and of `b` that do not exceed a value, over all
/// values: the two-sample Kolmogorov-Smirnov distance, from 0 to 1. Neither is empty.
double ks_distance(std::vector<double> a, std::vector<double> b);
/// The distance that two samples of the same law exceed in 5 % of all cases (asymptotically).
double ks_chance(std::size_t a, std::size_t b);

}  // namespace tiersim
