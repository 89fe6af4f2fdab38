#pragma once
// Readers of the files that scoring.hpp compares. Predictions are JSON of schema
// tiersim.predictions/v1, or CSV with columns name, predicted_ns, low_ns, high_ns. Measurements are
// composition.json of a campaign; CSV with name, measured_ns and, where they are known, noise (a
// share), roofline_ns and sum_ns; or any timings that read_timings.hpp takes, whose warm cases are
// named with /warm. A CSV begins with settings: `# build: ...`, `# date: ...`, and of measurements
// `# class: ...` and `# device: ...`. The noise of a composed sequence is half the interval of its
// median.
#include <string>

#include "hwmodels/calibrate/fit/scoring.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// `file` is the name in messages. All mistakes of the file go to `diagnostics` at once.
PredictedTimes read_predicted_times(const std::string& file, const std::string& text,
                                    Diagnostics& diagnostics);
MeasuredTimes read_measured_times(const std::string& file, const std::string& text,
                                  Diagnostics& diagnostics);

}  // namespace tiersim
