#pragma once
// One GPU of a step as a process of a trace (trace.hpp).
#include <cstdint>

#include "sim/run/simulate.hpp"
#include "sim/run/trace_writer.hpp"

namespace tiersim {

void trace_gpu(const Simulation& sim, std::int64_t gpu, TraceWriter& writer);

}  // namespace tiersim
