#pragma once
// Short names of metrics in sweeps: "throughput" for throughput_tokens_per_s, "ttft.p99" for
// ttft_s.p99, "tpot" for tpot_s.
#include <string>

#include "sim/base/expected.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {

/// The full name: the metric of this name, else the only metric with this name before its unit. The
/// error describes the mistake, then the likely names in brackets.
Expected<std::string> resolve_metric(const std::string& name);

/// The metric's value in expressions; `metric` is a full name. Counts, tokens/s and other rates of
/// counts are plain numbers.
Magnitude metric_magnitude(const std::string& metric, double value);

}  // namespace tiersim
