#pragma once
// Model card: predictions (composed sequences, from fits)
//   Models    the time of a sequence of kernels on one or two streams of a device, from fits of the
//             kernels timed alone.
//   Equation  a kernel alone takes predict(fit, point) and uses work / (time * peak) of memory, of
//             each direction of the link and of the arithmetic of its type. Where two run at once,
//             both slow by the largest of these sums, where it is above 1: overlapped kernels take
//             no more than the shared peaks. One stream runs in order; a step waits for `after`.
//   Interval  every case has an error of its own, the same each time it runs: the difference of
//             the sequence with the case at an end of its interval from the sequence; these in
//             quadrature. Where streams overlap, the interval also reaches from no sharing at all
//             to no overlap at all.
//   Ignores   the launch of the first kernel; data left in L2 by the kernel before; blocks that
//             fill the multiprocessors, so that the next kernel waits (within the interval).
//   Valid     dependent launches of a graph
//   Source    definitions above
//   Checked   tests/unit/hwmodels/calibrate_predictions_test.cpp
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/calibration.hpp"
#include "hwmodels/calibrate/fit/scoring.hpp"
#include "hwmodels/calibrate/read/composition_plan.hpp"

namespace tiersim {

/// One launch in a schedule.
struct ScheduledStep {
  double seconds = 0;  ///< when run alone
  /// Load on each shared peak when run alone, 0 to 1; the same number of entries in all steps.
  std::vector<double> shares;
  std::size_t stream = 0;
  std::vector<std::size_t> after;
};

/// Time until the last step has ended [s]; 0 for no steps.
double schedule(const std::vector<ScheduledStep>& steps);

struct SequencePredictions {
  PredictedTimes times;            ///< seconds; without file and date
  std::vector<LeftOut> left_out;   ///< sequences without a prediction
  std::vector<std::string> notes;  ///< cases without a fit, whose own timing is used
};

/// Predicts every sequence whose kernels each have a fit (by fit_name and regime) or a timing of
/// their own. The peaks that two streams share are the measured ceilings of the set; else the
/// largest rate of a fit; else the data sheet's; else there is no limit.
SequencePredictions predict_sequences(const CompositionPlan& plan, const TimingSet& set,
                                      const Calibration& calibration);

/// JSON of schema tiersim.predictions/v1; ends in a newline.
std::string to_json(const PredictedTimes& predicted);

}  // namespace tiersim
