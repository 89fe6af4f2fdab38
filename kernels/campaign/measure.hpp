// Times one case: graphs of 1, 2, 4, ... dependent nodes, each round replaying one graph of every
// size in an order of its own, over inputs that rotate (cold) or stay (warm).
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
  double budget_s = 1;  // of the rounds; the inputs are made before
  std::int64_t seed = 1;
  int process = 0;
  int processes = 1;
  SampleLimits limits;
};

// Everything of a timing that the measurement itself knows; agreement and hold-out are the
// caller's. Throws what the case throws, and std::runtime_error where its inputs do not fit the
// device.
Timing measure(const CaseEntry& entry, const DeviceInfo& device, const MeasureOptions& options);

}  // namespace tiersim::kernels::bench
