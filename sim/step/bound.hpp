#pragma once
// The second reading of a StepGraph: no step is faster than this. The larger of the critical path
// (every operation alone on the system) and, for each channel and for the compute unit, all the
// work it is given, by all GPUs that share it.
#include <string>
#include <vector>

#include "sim/model/step_graph.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// Time that one cause accounts for, over all operations alone on the system.
struct Share {
  std::string cause;  ///< a channel ("pcie.to_gpu"), "compute", "requests" or "latency"
  Duration time{};
};

struct Bound {
  Duration time{};            ///< the bound itself
  Duration critical_path{};   ///< longest chain of dependent operations
  std::string binding;        ///< "critical path", "gpu" or the channel that sets `time`
  std::vector<Share> shares;  ///< what the operations on the critical path wait for; largest first
};

Bound bound_of(const StepGraph& graph, const System& system, const std::vector<OpPlan>& plans);

}  // namespace tiersim
