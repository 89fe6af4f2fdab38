#include "hwmodels/compute/roofline_gpu.hpp"

#include <algorithm>

#include "hwmodels/limits.hpp"
#include "hwmodels/portions.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

// (a^p + b^p)^(1/p), rounded up to a picosecond, never below the larger of the two.
Duration blended(Duration a, Duration b, double p) {
  const auto [less, more] = std::minmax(a, b);
  if (less.count() <= 0) return more;
  const double exponent = p * portable_log(to_seconds(less) / to_seconds(more));
  if (exponent < -40) return more;  // adds less than 2^-57 of it
  const double ps = static_cast<double>(more.count()) *
                    portable_exp(portable_log(1.0 + portable_exp(exponent)) / p);
  if (ps >= 9.2e18) throw UnitOverflow();
  const auto whole = static_cast<std::int64_t>(ps);
  return std::max(more, Duration(static_cast<double>(whole) < ps ? whole + 1 : whole));
}

class RooflineGpu final : public ComputeUnit {
 public:
  explicit RooflineGpu(const RooflineGpuConfig& c) : launch_(c.launch.value) {
    // In the order of Arithmetic. Without fp8 units such weights are multiplied as bf16.
    const std::array peaks{c.peak_bf16.value, c.peak_fp8 ? c.peak_fp8->value : c.peak_bf16.value,
                           c.peak_int8.value};
    static_assert(peaks.size() == kArithmeticNames.size());
    for (std::size_t family = 0; family < rates_.size(); ++family) {
      double efficiency = c.efficiency.value;
      if (c.family_efficiency && c.family_efficiency->of[family])
        efficiency = c.family_efficiency->of[family]->value;
      std::ranges::transform(peaks, rates_[family].begin(),
                             [&](FlopRate peak) { return scale_down(peak, efficiency); });
    }
    if (c.sharpness) sharpness_ = c.sharpness->value;
    if (c.in_flight) in_flight_ = c.in_flight->value;
  }

  KernelTime time(const KernelWork& work) const override {
    const auto& rates = rates_[static_cast<std::size_t>(work.family)];
    const Duration compute = work.flops / rates[static_cast<std::size_t>(work.arithmetic)];
    Duration memory = work.memory_time;
    if (in_flight_)
      memory = std::max(memory, portions_time(work.memory_latency, work.memory_bytes.in_base(),
                                              in_flight_->in_base()));
    return {.launch = launch_,
            .compute = compute,
            .body = sharpness_ ? blended(memory, compute, *sharpness_) : std::max(memory, compute)};
  }

 private:
  Duration launch_;
  std::optional<double> sharpness_;
  std::optional<Bytes> in_flight_;
  std::array<std::array<FlopRate, kArithmeticNames.size()>, kKernelFamilyNames.size()> rates_{};
};

}  // namespace

void describe(Fields& f, FamilyEfficiency& c) {
  f.doc("Share of the peak that the kernels of a family reach.");
  for (std::size_t family = 0; family < c.of.size(); ++family)
    f.optional(kKernelFamilyNames[family], c.of[family], "Instead of `efficiency`.",
               share_limits());
}

void describe(Fields& f, RooflineGpuConfig& c) {
  f.doc("One GPU as a roofline.");
  f.required("peak_bf16", c.peak_bf16, "Dense bf16 or fp16 rate.", flop_rate_limits());
  f.optional("peak_fp8", c.peak_fp8, "Dense fp8 rate; that of bf16 where absent.",
             flop_rate_limits());
  f.required("peak_int8", c.peak_int8, "Dense int8 rate.", flop_rate_limits());
  f.required("efficiency", c.efficiency, "Share of the peak that a large matrix product reaches.",
             share_limits());
  f.optional("family_efficiency", c.family_efficiency, "For families that differ from it.");
  f.optional("sharpness", c.sharpness,
             "p of (memory^p + compute^p)^(1/p); the larger of the two where absent.",
             in_range(1.0, 64.0));
  f.optional("in_flight", c.in_flight,
             "Bytes that all SMs keep in flight to the GPU's own memory; not a limit where absent.",
             positive());
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
