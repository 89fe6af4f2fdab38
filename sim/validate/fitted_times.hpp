#pragma once
// The result of fitting CPU times of a server to measured runs (server_fit.hpp).
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"

namespace tiersim {

/// All times in seconds.
struct FittedTime {
  std::string name;
  double start = 0;
  double value = 0;             ///< that of the start where it is not determined
  Interval<double> ci95{0, 0};  ///< from the scatter of the runs; within [0, kLongestTime]
  bool determined = true;       ///< false where the runs do not tell it, or not from another one
};

struct ServerFit {
  std::vector<FittedTime> times;
  std::vector<double> before;  ///< logarithms of simulated over measured values, at the start
  std::vector<double> after;   ///< the same with the fitted times
};

}  // namespace tiersim
