#include "sim/trace/step_trace.hpp"

#include "sim/trace/step_trace_devices.hpp"
#include "sim/trace/step_trace_gpu.hpp"

namespace tiersim {

void write_trace(std::span<const Simulation> simulations, const TraceSink& sink) {
  std::vector<std::pair<std::string, std::string>> about;
  for (const Simulation& simulation : simulations)
    about.emplace_back("run_id of " + simulation.record.name, simulation.record.run_id);
  TraceWriter writer(sink, about);
  for (const Simulation& simulation : simulations) {
    // Where other GPUs have the MLPs, one of each kind stands for all.
    const std::int64_t gpus = simulation.system->ffn() ? 1 : simulation.system->gpus();
    for (std::int64_t gpu = 0; gpu < gpus; ++gpu) trace_gpu(simulation, gpu, writer);
    trace_devices(simulation, writer);
  }
  writer.finish();
}

}  // namespace tiersim
