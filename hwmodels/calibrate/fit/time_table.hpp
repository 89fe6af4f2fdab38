#pragma once
// A monotone table from what the equation says to what was measured: what a kernel does that four
// parameters cannot say. Between knots by PCHIP in the logarithms (Fritsch and Carlson 1980).
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"

namespace tiersim {

/// A modelled and a measured time [s], with the weight of the measurement.
struct TimePair {
  double modelled = 0;
  double measured = 0;
  double weight = 1;
};

/// Knots at the weighted mean logarithms of groups of at least five neighbours, at most eight,
/// pooled until they rise (pool adjacent violators); empty where fewer than four are left.
std::vector<TimeKnot> build_table(std::vector<TimePair> pairs);

}  // namespace tiersim
