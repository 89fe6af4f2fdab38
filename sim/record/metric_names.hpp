#pragma once
// Short names of metrics, which every verb takes: "throughput" for throughput_tokens_per_s,
// "ttft.p99" for ttft_s.p99, "tpot" for tpot_s.
#include <string>

#include "sim/base/expected.hpp"

namespace tiersim {

/// The full name: the metric of this name, else the only metric with this name before its unit. The
/// error describes the mistake, then the likely names in brackets.
Expected<std::string> resolve_metric(const std::string& name);

/// The short form of a name in the list of definitions: "ttft.{mean,p99}" for "ttft_s.{mean,p99}".
/// Empty where the name has no unit, or where its short form means another metric.
std::string short_metric(const std::string& definition);

}  // namespace tiersim
