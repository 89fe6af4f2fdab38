#pragma once
// The host time that printed throughputs and latencies imply, before any simulation.
//
// By Little's law N = X t sequences are in flight at X tokens/s, where each waits t for its next
// token. A step of all N takes t, so its time per token is t / N = 1 / X. The part of t that the
// GPU does not need is host time, if a host model is to explain the cell.
#include <cstdint>
#include <optional>

#include "reports/papers/early_exit/early_exit_targets.hpp"

namespace tiersim {

/// t = intercept + slope * N.
struct HostFit {
  double intercept_s = 0;
  double slope_s = 0;  ///< for each sequence
  /// True where no time is negative. A fit that is not usable has failed: it is shown and never
  /// used.
  bool usable() const { return intercept_s >= 0 && slope_s >= 0; }
};

/// N of a cell: its sequences in flight.
double in_flight(const ExitCell& cell);

/// The line through two cells after the GPU times `gpu_a_s` and `gpu_b_s` are subtracted from their
/// steps (0: the whole step is host time).
HostFit host_through(const ExitCell& a, double gpu_a_s, const ExitCell& b, double gpu_b_s);

/// Host time of a step with which the cell comes out as printed, beside `gpu_s` of the GPU.
double host_needed_s(const ExitCell& cell, double gpu_s);

/// tokens/s of `full` if its decoder layers, `layers_s` of its step, took no time. At the same host
/// time per token, no early exit is faster.
double bound_without_layers(const ExitCell& full, double layers_s);

/// The share of the printed speed-up of a cell over `full` that removing every decoder layer can
/// explain: 1 where the bound reaches it, none where there is no speed-up.
std::optional<double> explained_share(const ExitCell& cell, const ExitCell& full, double layers_s);

/// The share of a step that has to scale with the number of layers for the skipped layers to give
/// the speed-up: (1 - 1 / speed-up) / exit rate. None without an exit rate.
std::optional<double> scaling_share(const ExitCell& cell, const ExitCell& full);

}  // namespace tiersim
