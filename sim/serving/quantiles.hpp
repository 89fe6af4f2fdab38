#pragma once
// Quantiles and confidence intervals of the observations of a run.
#include <cstdint>
#include <optional>
#include <span>

namespace tiersim {

/// Rank, from 1, of the nearest-rank quantile among `count` >= 1 values: ceil(percent / 100 *
/// count). `percent`: 1 to 100.
std::int64_t nearest_rank(std::int64_t count, std::int64_t percent);

/// The least value that is at least as large as `percent` of all values: always one of the values,
/// never a mean of two. `sorted` is not empty.
double quantile(std::span<const double> sorted, std::int64_t percent);

/// Linear between the values beside position percent / 100 * (count - 1), from 0: the default of
/// numpy.percentile.
double quantile_between(std::span<const double> sorted, std::int64_t percent);
/// The value at position percent / 100 * count, from 0 and rounded down: PercentileStats of
/// TensorRT-LLM (tensorrt_llm/bench/dataclasses/statistics.py).
double quantile_below(std::span<const double> sorted, std::int64_t percent);

/// Half the width of the 95 % interval of the mean of a stationary series, in the order of
/// observation, by the means of 20 batches of equal size; of 10 batches if those of 20 are
/// correlated. None if a batch has fewer than 10 values, or if the means of 10 batches are
/// correlated as well: the series is then too short for its memory, or has a trend, and no interval
/// would be valid. Batch means count as correlated if their lag-1 autocorrelation, by von Neumann's
/// ratio, exceeds the level that independent means exceed in 5 % of all cases (Fishman, Management
/// Science 24, 1978, p. 510; Law and Kelton, Simulation Modeling and Analysis, 9.5.3).
std::optional<double> batch_half_width(std::span<const double> series);

}  // namespace tiersim
