#pragma once
// What the packet-level microbenchmarks say of the latencies that they saw.
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

struct LatencySummary {
  Duration mean{};  ///< rounded up to whole picoseconds
  Duration p50{};
  Duration p99{};
  Duration longest{};
};

/// Percentiles are the smallest sample that so many per cent do not exceed (nearest rank). All are
/// zero where there is no sample. `samples` is reordered.
LatencySummary summarise(std::vector<Duration>& samples);

}  // namespace tiersim
