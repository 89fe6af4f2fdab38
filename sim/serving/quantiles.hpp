#pragma once
// Quantiles and confidence intervals of what a run observed.
#include <cstdint>
#include <optional>
#include <span>

namespace tiersim {

/// Rank, from 1, of the nearest-rank quantile among `count` >= 1 values: ceil(percent / 100 *
/// count). `percent`: 1 to 100.
std::int64_t nearest_rank(std::int64_t count, std::int64_t percent);

/// The least value that `percent` of all do not exceed: always one of the values, never a mean of
/// two. `sorted` is not empty.
double quantile(std::span<const double> sorted, std::int64_t percent);

/// Half the width of the 95 % interval of the mean of a stationary series, in the order in which
/// it was observed, by the means of 20 batches of equal size; of 10 where those of 20 are
/// correlated. None where batches have fewer than 10 values, or where those of 10 are correlated as
/// well: the series is too short for its memory, or has a trend, and no interval would be true.
/// Correlated: the lag-1 autocorrelation of the batch means, as von Neumann's ratio has it, is
/// above what independent ones exceed in 5 % of all cases (Fishman, Management Science 24, 1978,
/// p. 510; Law and Kelton, Simulation Modeling and Analysis, 9.5.3).
std::optional<double> batch_half_width(std::span<const double> series);

}  // namespace tiersim
