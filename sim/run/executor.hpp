#pragma once
// The third reading of a StepGraph: events. Every operation waits for its dependencies, then for
// the compute unit if it is a kernel, passes its setup time, and is then one flow over the channels
// it charges, sharing them with whatever else is in flight.
#include <vector>

#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"
#include "sim/run/system.hpp"

namespace tiersim {

/// When one operation ran. ready <= start <= flow <= end.
struct OpTiming {
  SimTime ready{};  ///< dependencies done
  SimTime start{};  ///< has what it occupies; setup begins
  SimTime flow{};   ///< setup over; bytes begin to move
  SimTime end{};
};

struct Execution {
  Duration time{};                  ///< until the last operation ends
  std::vector<OpTiming> timings;    ///< by OpId
  std::vector<Bytes> busy;          ///< by ChannelId, as the channels themselves counted it
  std::vector<Duration> busy_time;  ///< by ChannelId: time with at least one flow
};

/// Runs the whole graph on the system, from time 0. `plans` as by System::plan(graph).
Execution execute(const StepGraph& graph, const System& system, const std::vector<OpPlan>& plans);

}  // namespace tiersim
