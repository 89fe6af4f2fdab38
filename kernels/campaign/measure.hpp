// Times one case with graphs of 1, 2, 4, ... dependent nodes. Each round replays one graph of every
// size in a shuffled order, over inputs that rotate (cold) or stay (warm).
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/campaign/plan.hpp"
#include "kernels/campaign/record.hpp"
#include "kernels/cases/case.hpp"
#include "kernels/runtime/device_info.hpp"

namespace tiersim::kernels::bench {

struct MeasureOptions {
  bool warm = false;
  double budget_s = 1;  // of the rounds, without making the inputs
  std::int64_t seed = 1;
  int process = 0;
  int processes = 1;
  SampleLimits limits;
};

// The timing of a case without its agreement and hold-out, which the caller adds. Throws the
// exceptions of the case, and std::runtime_error where the inputs do not fit the device.
Timing measure(const CaseEntry& entry, const DeviceInfo& device, const MeasureOptions& options);

}  // namespace tiersim::kernels::bench
