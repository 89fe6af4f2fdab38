// What the simulator said of the composed sequences before they were measured.
#pragma once
#include <map>
#include <string>

#include "kernels/campaign/options.hpp"

namespace tiersim::kernels::bench {

struct Prediction {
  double median_ns = 0;
  double low_ns = 0;  // of its interval
  double high_ns = 0;
};
using Predictions = std::map<std::string, Prediction>;  // by name of the sequence

// Reads options.predictions:
//   {"schema": "tiersim.predictions/v1", "build_id": ..., "predictions":
//     [{"name": "f1.layers.loads", "median_ns": ..., "low_ns": ..., "high_ns": ...}]}
// Nothing with --no-predictions. Throws UsageError where there is neither, where the file is of
// another build (its calibration came from other kernels), or where it is malformed.
Predictions read_predictions(const Options& options);

}  // namespace tiersim::kernels::bench
