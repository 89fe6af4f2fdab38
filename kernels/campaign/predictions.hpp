// Predictions of the simulator for the composed sequences, made before these were measured.
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
// Empty with --no-predictions. Throws UsageError where neither option is given, where the file is
// malformed, and where it is of another build, since its calibration came from other kernels.
Predictions read_predictions(const Options& options);

}  // namespace tiersim::kernels::bench
