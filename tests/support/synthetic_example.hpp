#pragma once
// The shipped example of configs/calibration/synthetic/2026-01-01-example: timings, composed
// sequences and their times, made from known parameters. None of it was measured.
#include <string>

namespace tiersim::testing {

/// timings.csv: two kernels timed alone at sizes from launch-bound to 1 GB, with 2 % of scatter.
std::string example_timings();
/// plan.json: sequences of these kernels at sizes between, on one stream and on two.
std::string example_plan();
/// measured.csv: times of the sequences, with the first launch and scatter.
std::string example_measured();

}  // namespace tiersim::testing
