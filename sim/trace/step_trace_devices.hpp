#pragma once
// The devices of a step as a process of a trace (trace.hpp): what passes each channel, how many
// wait, and how much of it is used.
#include "sim/step/simulate.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

void trace_devices(const Simulation& sim, TraceWriter& writer);

/// Utilisation of a channel between two times, 0 to 1 in steps of 0.001. Bytes in flight are
/// counted whole, so that a short window could come out above 1.
double trace_utilisation(Bytes taken, Bandwidth capacity, Duration window);

}  // namespace tiersim
