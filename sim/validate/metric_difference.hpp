#pragma once
// The difference of a simulated metric of a server from a measured one, by the parts of the
// simulated time (run_difference.hpp).
#include <string>
#include <vector>

#include "sim/validate/published_runs.hpp"

namespace tiersim {

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

}  // namespace tiersim
