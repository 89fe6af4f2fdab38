#pragma once
// A run as a timeline in the Chrome trace-event format, which Perfetto (ui.perfetto.dev) loads: one
// track for kernels and one for each kind of transfer, and for every device two counters of the
// payload bytes moved so far, whose last values are the accounting's traffic. Each simulation is a
// process of its own.
#include <span>
#include <string>

#include "sim/run/simulate.hpp"

namespace tiersim {

/// JSON text. Times in microseconds with picosecond digits.
std::string to_perfetto_json(std::span<const Simulation> simulations);

}  // namespace tiersim
