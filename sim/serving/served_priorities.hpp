#pragma once
// The latencies of the requests of each priority.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/serving/observations.hpp"

namespace tiersim {

/// By priority, the lowest number first; none where all requests have the same. `quantile` is of
/// sorted values, at a percentage.
std::vector<ServedPriority> priorities_of(
    std::span<const ServedRequest> requests, const MeasureConfig& measure,
    const std::function<double(std::span<const double>, std::int64_t)>& quantile);

}  // namespace tiersim
