#pragma once
// Model card: roofline_gpu (fidelity: analytic)
//   Models    one GPU's kernels at specification level: launch, arithmetic and memory.
//   Equation  t = launch + max(memory time, flops / (peak * efficiency))
//   Ignores   waves and tails, tile padding beyond the FLOPs as counted, clocks, L2.
//   Valid     kernels large enough to fill the GPU.
//   Source    data sheets for peaks; efficiency from a measured 8192^3 bf16 matrix product.
//   Checked   tests/unit/hwmodels/compute_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct RooflineGpuConfig {
  Sourced<FlopRate> peak_bf16;

  Sourced<FlopRate> peak_int8;
  Sourced<double> efficiency;
  Sourced<Duration> launch;
};

void describe(Fields& f, RooflineGpuConfig& c);
std::unique_ptr<ComputeUnit> make_device(const RooflineGpuConfig& config);
void register_roofline_gpu(Registry<DeviceKind<ComputeUnit>>& registry);

}  // namespace tiersim
