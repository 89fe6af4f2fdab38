#pragma once
// One GPU of a step as a process of a trace (step_trace.hpp).
#include <cstdint>

#include "sim/step/simulate.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

void trace_gpu(const Simulation& sim, std::int64_t gpu, TraceWriter& writer);

}  // namespace tiersim
