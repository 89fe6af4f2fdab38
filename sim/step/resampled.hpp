#pragma once
// Intervals of results: repeated runs with numbers drawn from their own 95 % intervals
// (sim/config/resample.hpp), and the range of the middle 95 % of their results.
#include <functional>
#include <string>

#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {

/// Metrics and kernel times of one draw. The error is the reason why it cannot run.
using RunDraw = std::function<Expected<RunRecord>(const ScenarioConfig&)>;

/// Adds an interval to every metric of `run` in `record`, which is the run at the best values.
/// Nothing is drawn if no number that the run uses has an interval. A metric that none of these
/// numbers moves gets equal ends. A kernel time gets an interval only if the draws move it, since a
/// time behind which no number has an interval is not known to the picosecond. An interval is
/// widened to include the value at the best values, if almost all draws lie on one side. The error
/// names the draw that cannot run, and the reason.
Expected<bool> add_intervals(const ScenarioConfig& config, const RunDraw& run, RunRecord& record);

}  // namespace tiersim
