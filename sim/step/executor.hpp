#pragma once
// The third reading of a StepGraph: events. Every operation waits for its dependencies, then for
// the compute unit if it is a kernel, and passes its setup time. Then it is one flow over the
// channels that it charges, and shares them with all other flows. Devices at packet level work on
// their part beside the flow, and the operation ends with the last of these parts. Every GPU runs
// the graph from time 0, and the GPUs contend in the devices that they share.
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// The times of one operation. ready <= start <= flow <= end.
struct OpTiming {
  SimTime ready{};  ///< dependencies done
  SimTime start{};  ///< occupies its resources; setup begins
  SimTime flow{};   ///< setup over; bytes begin to move
  SimTime end{};
};

struct Execution {
  Duration time{};                ///< until the last operation of the last GPU ends
  std::vector<OpTiming> timings;  ///< of each simulated GPU, by OpId
  std::int64_t simulated = 1;     ///< all GPUs, or one that stands for all
  std::vector<Bytes> busy;        ///< by ChannelId, as counted by its first instance

  /// The timings of one GPU.
  std::span<const OpTiming> of_gpu(std::int64_t gpu) const {
    const std::size_t ops = timings.size() / static_cast<std::size_t>(simulated);
    return std::span(timings).subspan(static_cast<std::size_t>(gpu % simulated) * ops, ops);
  }
};

/// Receives the bytes that an instance of a channel has carried so far, whenever an operation
/// begins or ends to move bytes through it. The difference of two calls is the total of all that
/// share it. Instance i belongs to GPUs i * sharers and following; of GPUs that do the same, the
/// first one stands for all. Only channels at flow level are reported.
class ChannelObserver {
 public:
  virtual ~ChannelObserver() = default;
  virtual void on_taken(ChannelId channel, std::size_t instance, SimTime now, Bytes taken) = 0;
};

/// Runs the whole graph on every GPU of the system, from time 0. `plans` comes from
/// System::plan(graph). An observer changes only the run time of the simulation.
Execution execute(const StepGraph& graph, const System& system, const OpPlans& plans,
                  ChannelObserver* observer = nullptr);

}  // namespace tiersim
