#pragma once
// Fit of times of a server's CPU to a few measured runs of that server: Gauss and Newton's descent,
// damped as by Levenberg and Marquardt, on the logarithm of simulated over measured values. A value
// that is more than 10 % off counts linearly.
//
//   err = fit_times({{"server.host.sync", 250e-6, 100e-6}}, simulate)
//
// A simulated server answers to a small change of a time in steps, since its batches change. So the
// derivatives are differences over `step` or a quarter of the value, whichever is larger.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/number_class.hpp"

namespace tiersim {

/// A time to fit [s]; it is never negative.
struct FreeTime {
  std::string name;
  double start = 0;
  double step = 1e-4;  ///< smallest change that a derivative is taken over
};

struct FittedTime {
  std::string name;
  double start = 0;
  double value = 0;
  Interval<double> ci95{0, 0};  ///< from the scatter of the runs; at least 0
  bool determined = true;       ///< false where the runs do not tell it, or not from another one
};

struct ServerFit {
  std::vector<FittedTime> times;
  std::vector<double> before;  ///< logarithms of simulated over measured values, at the start
  std::vector<double> after;   ///< the same with the fitted times
};

/// Logarithms of simulated over measured values for these times [s], always as many; or why a run
/// cannot be simulated.
using LogErrors = std::function<Expected<std::vector<double>>(const std::vector<double>& seconds)>;

/// Needs more values than times. Returns the reason where a simulation fails.
Expected<ServerFit> fit_times(const std::vector<FreeTime>& times, const LogErrors& errors);

}  // namespace tiersim
