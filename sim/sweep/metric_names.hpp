#pragma once
// Metrics as people write them in sweeps: "throughput" of throughput_tokens_per_s, "ttft.p99" of
// ttft_s.p99, "tpot" of tpot_s.
#include <string>

#include "sim/base/expected.hpp"
#include "sim/sweep/expression.hpp"

namespace tiersim {

/// The full name: the metric of this name, else the one metric whose name without its unit is this.
/// The error says what is wrong with the name, then in brackets what could be meant.
Expected<std::string> resolve_metric(const std::string& name);

/// The metric's value as expressions see it; `metric` is a full name. Counts, tokens/s and other
/// rates of counts are plain numbers.
Magnitude metric_magnitude(const std::string& metric, double value);

}  // namespace tiersim
