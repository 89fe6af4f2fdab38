#pragma once
// A simulated run of a server beside a measured one: the parts that make up the simulated time per
// output token and time to the first token, and how long each would have to take to explain the
// difference alone.
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/validate/published_runs.hpp"

namespace tiersim {

struct ServingConfig;

/// A part of a mean time.
struct DifferencePart {
  std::string name;    ///< "decode attention", "frontend"
  double seconds = 0;  ///< of the simulated value
  /// What its time would have to be multiplied by, all else as simulated, so that simulated and
  /// measured are equal; negative where even no time would not be little enough.
  double factor = 0;

  /// True where that is not absurd: between a third and three times the simulated time.
  bool could_explain() const { return factor >= 1.0 / 3 && factor <= 3; }
};

struct MetricDifference {
  PublishedMetric metric = PublishedMetric::tpot;
  double measured = 0;                     ///< s
  double simulated = 0;                    ///< s
  std::vector<DifferencePart> parts = {};  ///< the largest first
};

/// Simulates the configuration. For the measured time per output token, and for the time to the
/// first token, if they are known. Not for early exit or an encoder.
Expected<std::vector<MetricDifference>> difference_of(const ServingConfig& config,
                                                      const PublishedValues& measured);

}  // namespace tiersim
