#include "hwmodels/compute/roofline_gpu.hpp"

#include "hwmodels/limits.hpp"

#include <algorithm>
#include <array>

namespace tiersim {
namespace {

class RooflineGpu final : public ComputeUnit {
 public:
  explicit RooflineGpu(const RooflineGpuConfig& c) : launch_(c.launch.value) {
    const std::array peaks{c.peak_bf16.value, c.peak_int8.value};
    std::ranges::transform(peaks, rates_.begin(),
                           [&](FlopRate peak) { return scale_down(peak, c.efficiency.value); });
  }

  KernelTime time(const KernelWork& work) const override {
    const Duration compute = work.flops / rates_[static_cast<std::size_t>(work.arithmetic)];
    return {.launch = launch_, .compute = compute, .body = std::max(compute, work.memory_time)};
  }

 private:
  Duration launch_;
  std::array<FlopRate, 2> rates_{};  // by Arithmetic
};

}  // namespace

void describe(Fields& f, RooflineGpuConfig& c) {
  f.doc("One GPU as a roofline.");
  f.required("peak_bf16", c.peak_bf16, "Dense bf16 or fp16 rate.", flop_rate_limits());

  f.required("peak_int8", c.peak_int8, "Dense int8 rate.", flop_rate_limits());
  f.required("efficiency", c.efficiency, "Share of the peak that a large matrix product reaches.",
             in_range(0.01, 1.0));
  f.required("launch", c.launch, "Time from the end of one kernel to the start of the next.",
             latency_limits());
}

std::unique_ptr<ComputeUnit> make_device(const RooflineGpuConfig& config) {
  return std::make_unique<RooflineGpu>(config);
}

void register_roofline_gpu(Registry<DeviceKind<ComputeUnit>>& registry) {
  registry.add("roofline_gpu", {"launch, arithmetic and memory as a roofline (analytic)",
                                &ConfiguredDevice<ComputeUnit, RooflineGpuConfig>::make});
}

}  // namespace tiersim
