#pragma once
// The files that scoring.hpp holds against each other.
//   predictions   JSON `tiersim.predictions/v1`, or CSV `name,predicted_ns,low_ns,high_ns`
//   measurements  a campaign's composition.json or timing.json, or CSV `name,measured_ns` with
//                 `noise` (a share), `roofline_ns` and `sum_ns` where they are known
// A CSV begins with comments: `# build_id: ...`, `# date: ...`, and of measurements `# class: ...`
// and `# device: ...`. Of several processes of a campaign the median counts, and half their spread
// is the noise; of a composed sequence, half the interval of its median.
#include <string>

#include "hwmodels/calibrate/scoring.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// `file` is the name for messages. Mistakes go to `diagnostics`, all of the file in one go.
PredictedTimes read_predicted_times(const std::string& text, const std::string& file,
                                    Diagnostics& diagnostics);
MeasuredTimes read_measured_times(const std::string& text, const std::string& file,
                                  Diagnostics& diagnostics);

}  // namespace tiersim
