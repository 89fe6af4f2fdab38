#pragma once
// A partition of the time of a step over its causes. It follows the chain of operations that ended
// last, each back to the operation it waited for. The parts sum to the step.
//
//   weights    kernels that wait for their weights (projections, MLP, experts, embedding, head);
//              copies of these from the far tier
//   kv         kernels that wait for keys and values in the near tier (attention, appending);
//              CPUs that read them
//   compute    kernels that wait for arithmetic
//   screening  kernels and fetches that select the rows to read
//   link_wait  waiting for rows on their way from the far tier, or for write-backs to it
//   latency    launches, and the latency of the first byte
//   collective GPUs meet and exchange activations, start-up included
//   host       the CPU between two steps
#include <array>
#include <span>
#include <string_view>

#include "sim/step/executor.hpp"

namespace tiersim {

enum class TimePart : std::uint8_t {
  weights,
  kv,
  compute,
  screening,
  link_wait,
  latency,
  collective,
  host
};
inline constexpr std::array<std::string_view, 8> kTimePartNames{
    "weights", "kv", "compute", "screening", "link_wait", "latency", "collective", "host"};

using TimeSplit = std::array<Duration, kTimePartNames.size()>;  ///< by TimePart

/// `timings` of one GPU, by OpId.
TimeSplit split_time(const StepGraph& graph, const System& system, const OpPlans& plans,
                     std::span<const OpTiming> timings);

}  // namespace tiersim
