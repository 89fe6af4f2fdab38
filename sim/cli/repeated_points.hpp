#pragma once
// Points of one PointRunner that differ in numbers from earlier ones, as those of studies and
// questions do: only these numbers are read and hashed again (sim/sweep/point_reader.hpp).
#include "sim/runner/point_runner.hpp"

namespace tiersim::cli {

/// For the constructor of one PointRunner, not for two, and for use by one thread at a time. The
/// records equal those without it.
RunPoint run_repeated_points();

}  // namespace tiersim::cli
