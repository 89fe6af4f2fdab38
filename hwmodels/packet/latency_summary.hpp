#pragma once
// Latency statistics of the packet-level microbenchmarks.
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

struct LatencySummary {
  Duration mean{};  ///< rounded up to whole picoseconds
  Duration p50{};
  Duration p99{};
  Duration longest{};
};

/// Percentiles are by nearest rank: the smallest sample with at least that share of all samples at
/// or below it. All are zero where there is no sample. `samples` is reordered.
LatencySummary summarise(std::vector<Duration>& samples);

}  // namespace tiersim
