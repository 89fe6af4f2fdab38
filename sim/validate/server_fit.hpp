#pragma once
// Fit of times of a server's CPU to a few measured runs of that server: Gauss and Newton's descent,
// damped as by Levenberg and Marquardt, on the logarithm of simulated over measured values. A value
// that is more than 10 % off counts linearly.
//
//   err = fit_times({{"server.host.sync", 250e-6, 100e-6}}, simulate)
//
// A simulated server answers to a small change of a time in steps, since its batches change. So the
// derivatives are differences over `step` or a quarter of the value, whichever is larger.
//
// A time is determined where the derivatives of the values by it are neither zero nor, to 1 %, a
// combination of those by the other times. One that is not keeps its start, and the others are
// fitted again.
#include <functional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/validate/fitted_times.hpp"

namespace tiersim {

/// The longest time of the CPU that a server may state [s].
inline constexpr double kLongestTime = 1;

/// A time to fit [s]; it stays within [0, kLongestTime].
struct FreeTime {
  std::string name;
  double start = 0;
  double step = 1e-4;  ///< smallest change that a derivative is taken over
};

/// Logarithms of simulated over measured values for these times [s], always as many; or why a run
/// cannot be simulated.
using LogErrors = std::function<Expected<std::vector<double>>(const std::vector<double>& seconds)>;

/// Needs more values than times. Returns the reason where a simulation fails.
Expected<ServerFit> fit_times(const std::vector<FreeTime>& times, const LogErrors& errors);

}  // namespace tiersim
