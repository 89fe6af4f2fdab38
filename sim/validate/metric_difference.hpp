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
  /// The factor on this part's time that makes the simulated value equal to the measured one, if
  /// all other parts stay as they are. Negative if the value stays too large even at a time of
  /// zero.
  double factor = 0;

  /// True if the factor is between a third and three.
  bool could_explain() const { return factor >= 1.0 / 3 && factor <= 3; }
};

struct MetricDifference {
  PublishedMetric metric = PublishedMetric::tpot;
  double measured = 0;                     ///< s
  double simulated = 0;                    ///< s
  std::vector<DifferencePart> parts = {};  ///< the largest first
};

}  // namespace tiersim
