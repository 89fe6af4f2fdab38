#pragma once
// A run as a timeline in the Chrome trace-event format, which Perfetto (ui.perfetto.dev) loads.
// Each GPU of each simulation is a process: a track for its kernels, one for each kind of transfer
// (several where transfers of a kind overlap, since spans of one track must not), and for every
// device two counters of the payload bytes that the GPU has moved so far. Their last values, over
// the GPUs that share a device, are the accounting's traffic.
#include <span>
#include <string>

#include "sim/run/simulate.hpp"

namespace tiersim {

/// JSON text. Times in microseconds with picosecond digits.
std::string to_perfetto_json(std::span<const Simulation> simulations);

}  // namespace tiersim
