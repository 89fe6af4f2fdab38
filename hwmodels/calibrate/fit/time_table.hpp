#pragma once
// A monotone table from the equation's time to the measured time. It corrects effects that four
// parameters cannot express. PCHIP interpolates the logarithms between knots (Fritsch and Carlson
// 1980).
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"

namespace tiersim {

/// A modelled and a measured time [s], with the weight of the measurement.
struct TimePair {
  double modelled = 0;
  double measured = 0;
  double weight = 1;
};

/// Knots at the weighted mean logarithms of groups of at least five neighbours, at most eight
/// knots, pooled until they rise (pool adjacent violators). Empty where fewer than four are left.
std::vector<TimeKnot> build_table(std::vector<TimePair> pairs);

}  // namespace tiersim
