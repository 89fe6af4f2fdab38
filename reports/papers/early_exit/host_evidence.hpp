#pragma once
// What printed throughputs and latencies say of a server before anything is simulated.
//
// By Little's law N = X t sequences are in flight where X tokens come in a second and each waits t
// for the next. A step of all N takes t then, and t / N = 1 / X is its time for a token. What of t
// the GPU does not need is the host's, if a host model is to explain the cell.
#include <cstdint>
#include <optional>

#include "reports/papers/early_exit/early_exit_targets.hpp"

namespace tiersim {

/// t = intercept + slope * N.
struct HostFit {
  double intercept_s = 0;
  double slope_s = 0;  ///< a sequence
  /// No time is negative. One that is not usable is a failed fit: shown, and never used.
  bool usable() const { return intercept_s >= 0 && slope_s >= 0; }
};

/// N of a cell.
double in_flight(const ExitCell& cell);

/// Through two cells whose steps take less by the GPU's times `gpu_s` (0: the whole step is the
/// host's).
HostFit host_through(const ExitCell& a, double gpu_a_s, const ExitCell& b, double gpu_b_s);

/// Host time of a step that makes the cell come out, beside `gpu_s` of the GPU.
double host_needed_s(const ExitCell& cell, double gpu_s);

/// tokens/s of `full` if its decoder layers, `layers_s` of its step, took no time at all: no early
/// exit at the same host time a token is faster.
double bound_without_layers(const ExitCell& full, double layers_s);

/// Of the printed speed-up of a cell over `full`, the share that removing every decoder layer could
/// explain: 1 where the bound reaches it, none where there is no speed-up.
std::optional<double> explained_share(const ExitCell& cell, const ExitCell& full, double layers_s);

/// Share of a step that would have to scale with the layers run for the speed-up to come from the
/// layers skipped: (1 - 1 / speed-up) / exit rate. None without an exit rate.
std::optional<double> scaling_share(const ExitCell& cell, const ExitCell& full);

}  // namespace tiersim
