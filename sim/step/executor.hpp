#pragma once
// The third reading of a StepGraph: events. Every operation waits for its dependencies, then for
// the compute unit if it is a kernel, passes its setup time, and is then one flow over the channels
// it charges, sharing them with whatever else is in flight; what it asks of devices at packet level
// goes on beside the flow, and it ends with the last of these. Every GPU runs the graph, all from
// time 0: they meet in the devices that they share.
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// When one operation ran. ready <= start <= flow <= end.
struct OpTiming {
  SimTime ready{};  ///< dependencies done
  SimTime start{};  ///< has what it occupies; setup begins
  SimTime flow{};   ///< setup over; bytes begin to move
  SimTime end{};
};

struct Execution {
  Duration time{};                ///< until the last operation of the last GPU ends
  std::vector<OpTiming> timings;  ///< GPU by GPU, by OpId
  std::vector<Bytes> busy;        ///< by ChannelId, as its first instance counted it

  /// The timings of one GPU.
  std::span<const OpTiming> of_gpu(std::int64_t gpu, std::int64_t gpus) const {
    const std::size_t ops = timings.size() / static_cast<std::size_t>(gpus);
    return std::span(timings).subspan(static_cast<std::size_t>(gpu) * ops, ops);
  }
};

/// Told what an instance of a channel had taken by when, whenever an operation begins or ends to
/// move bytes through it: what lies between two calls is what all that share it took together.
/// Instance i is that of GPUs i * sharers and following; of GPUs that do the same, the first one
/// stands for all. Only channels at flow level are told of.
class ChannelObserver {
 public:
  virtual ~ChannelObserver() = default;
  virtual void on_taken(ChannelId channel, std::size_t instance, SimTime now, Bytes taken) = 0;
};

/// Runs the whole graph on every GPU of the system, from time 0. `plans` as by
/// System::plan(graph). An observer changes nothing but the time that it costs.
Execution execute(const StepGraph& graph, const System& system, const std::vector<OpPlan>& plans,
                  ChannelObserver* observer = nullptr);

}  // namespace tiersim
