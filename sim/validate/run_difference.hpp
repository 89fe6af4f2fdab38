#pragma once
// A simulated run of a server beside a measured one: the parts that make up the simulated time per
// output token and time to the first token, and how long each would have to take to explain the
// difference alone.
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/validate/metric_difference.hpp"

namespace tiersim {

struct ServingConfig;

/// Simulates the configuration. For the measured time per output token, and for the time to the
/// first token, if they are known. Not for early exit or an encoder.
Expected<std::vector<MetricDifference>> difference_of(const ServingConfig& config,
                                                      const PublishedValues& measured);

}  // namespace tiersim
