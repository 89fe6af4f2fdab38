#pragma once
// The second reading of a StepGraph: a lower bound of the step's time. It is the larger of the
// critical path (every operation alone on the system) and, for each channel and the compute unit,
// the total work that all GPUs sharing it have for it.
#include <string>
#include <vector>

#include "sim/model/step_graph.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// Time due to one cause, over all operations, each alone on the system.
struct Share {
  std::string cause;  ///< a channel ("pcie.to_gpu"), "compute", "requests" or "latency"
  Duration time{};
};

/// Bound::binding where it is the work of the kernels of a GPU.
inline constexpr std::string_view kGpuWork = "gpu";

struct Bound {
  Duration time{};            ///< the bound itself
  Duration critical_path{};   ///< longest chain of dependent operations
  std::string binding;        ///< what sets `time`: "critical path", kGpuWork, or a channel
  std::vector<Share> shares;  ///< waiting times on the critical path; largest first
};

Bound bound_of(const StepGraph& graph, const System& system, const OpPlans& plans);

}  // namespace tiersim
