#pragma once
// Intervals of results: a run again and again with numbers drawn from their own 95 % intervals
// (sim/config/resample.hpp), and the range that the middle 95 % of its results take.
#include <functional>
#include <string>

#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {

/// Metrics and kernel times of one draw. The error is why it cannot run.
using RunDraw = std::function<Expected<RunRecord>(const ScenarioConfig&)>;

/// Gives every metric that `run` gives its interval in `record`, which is the run at the best
/// values, where a number that it uses has one; otherwise nothing is drawn. A metric that none of
/// these numbers moves gets equal ends. A kernel time gets an interval where the draws move it: one
/// that rests on no number with an interval is not known to the picosecond. An interval is widened
/// to its value where all but a few draws lie on one side. The error is what is wrong with which
/// draw.
Expected<bool> add_intervals(const ScenarioConfig& config, const RunDraw& run, RunRecord& record);

}  // namespace tiersim
