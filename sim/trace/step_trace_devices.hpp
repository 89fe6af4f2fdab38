#pragma once
// The devices of a step as a process of a trace (step_trace.hpp): the operations on each channel,
// how many wait, and its utilisation.
#include "sim/step/simulate.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

void trace_devices(const Simulation& sim, TraceWriter& writer);

/// Utilisation of a channel between two times, 0 to 1 in steps of 0.001. It is limited to 1,
/// because bytes in flight count whole and a short window could exceed 1.
double trace_utilisation(Bytes taken, Bandwidth capacity, Duration window);

}  // namespace tiersim
