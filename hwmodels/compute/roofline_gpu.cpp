#include "hwmodels/compute/roofline_gpu.hpp"

#include <algorithm>

#include "hwmodels/limits.hpp"
#include "hwmodels/portions.hpp"

namespace tiersim {
namespace {

// blend() of two times, rounded up to a picosecond, never below the larger of the two.
Duration blended(Duration a, Duration b, double p) {
  const Duration more = std::max(a, b);
  const double ps = blend(static_cast<double>(a.count()), static_cast<double>(b.count()), p);
  if (ps >= 9.2e18) throw UnitOverflow();
  const auto whole = static_cast<std::int64_t>(ps);
  return std::max(more, Duration(static_cast<double>(whole) < ps ? whole + 1 : whole));
}

// Rates in the order of Arithmetic. Without units for it, fp4 is multiplied as fp8, and fp8 as
// bf16.
std::array<FlopRate, kArithmeticNames.size()> peaks_of(const RooflineGpuConfig& c) {
  const FlopRate fp8 = c.peak_fp8 ? c.peak_fp8->value : c.peak_bf16.value;
  return {c.peak_bf16.value, fp8, c.peak_int8.value, c.peak_fp4 ? c.peak_fp4->value : fp8, fp8};
}

ComputeSheet sheet_of(const RooflineGpuConfig& c) {
  return {.part = c.part,
          .peaks = peaks_of(c),
          .l2 = c.l2 ? c.l2->value : Bytes{},
          .sms = c.sms ? c.sms->value : 0};
}

const std::map<std::string, TimedKernelConfig>& timed_kernels_of(const RooflineGpuConfig& c) {
  static const std::map<std::string, TimedKernelConfig> none;
  return c.timed_kernels ? *c.timed_kernels : none;
}

class RooflineGpu final : public ComputeUnit {
 public:
  explicit RooflineGpu(const RooflineGpuConfig& c)
      : launch_(c.launch.value), sheet_(sheet_of(c)), timed_(timed_kernels_of(c), sheet_of(c)) {
    specified_ = weakest(weakest(c.peak_bf16.number_class, c.peak_int8.number_class),
                         weakest(c.launch.number_class, c.efficiency.number_class));
    for (std::size_t family = 0; family < rates_.size(); ++family) {
      double efficiency = c.efficiency.value;
      if (c.family_efficiency && c.family_efficiency->of[family])
        efficiency = c.family_efficiency->of[family]->value;
      std::ranges::transform(sheet_.peaks, rates_[family].begin(),
                             [&](FlopRate peak) { return scale_down(peak, efficiency); });
      if (c.matrix_tiles && family == kGemm) fill_tiles(*c.matrix_tiles, efficiency);
      if (!c.kernels || !c.kernels->of[family]) continue;
      calibrated_[family].emplace(*c.kernels->of[family], c.part);
    }
    for (const KernelFamily family : {KernelFamily::experts, KernelFamily::batched_gemm}) {
      const auto i = static_cast<std::size_t>(family);
      are_products_[i] = !calibrated_[i] && !(c.family_efficiency && c.family_efficiency->of[i]);
    }
    if (c.sharpness) sharpness_ = c.sharpness->value;
    if (c.in_flight) in_flight_ = c.in_flight->value;
  }

  const ComputeSheet& sheet() const override { return sheet_; }

  KernelFamily family_for(KernelFamily family) const override {
    if (are_products(family) && !timed_.has(family)) return KernelFamily::gemm;
    const bool untimed =
        family == KernelFamily::quantisation && !timed_.has(KernelFamily::quantisation);
    return untimed ? KernelFamily::elementwise : family;
  }

  KernelTime time(const KernelWork& work) const override {
    if (!are_products(work.family)) return time_in_family(work);
    if (const auto timed = timed_.time(work)) return *timed;
    KernelWork product = work;
    product.family = KernelFamily::gemm;
    return time_in_family(product);
  }

  KernelBasis basis(KernelFamily family, const TimedNames* ran) const override {
    const auto& calibrated = calibrated_[static_cast<std::size_t>(family)];
    if (calibrated) return calibrated->basis(specified_);
    if (const auto timed = timed_.basis(family, ran)) return *timed;
    if (family_for(family) != family) return basis(family_for(family), ran);
    return {.basis = "specification",
            .number_class =
                family == KernelFamily::gemm ? weakest(specified_, tiles_class_) : specified_,
            .source = "no timing"};
  }

 private:
  template <class T>
  using ByFamily = std::array<T, kKernelFamilyNames.size()>;
  static constexpr auto kGemm = static_cast<std::size_t>(KernelFamily::gemm);

  /// Returns true if operations of this family take the time of a matrix product. That is so if the
  /// device states neither an efficiency nor a calibration for the family, which only the families
  /// `experts` and `batched_gemm` may lack.
  bool are_products(KernelFamily family) const {
    return are_products_[static_cast<std::size_t>(family)];
  }

  KernelTime time_in_family(const KernelWork& work) const {
    const auto family = static_cast<std::size_t>(work.family);
    const auto arithmetic = static_cast<std::size_t>(work.arithmetic);
    const FlopRate rate = rates_[family][arithmetic];
    if (calibrated_[family])
      return calibrated_[family]->time(work, {.rate = rate, .peak = sheet_.peaks[arithmetic]});
    if (const auto timed = timed_.time(work)) return *timed;
    const bool tiled = tiles_ && family == kGemm && work.matrix.rows > 0;
    // The counted FLOPs of an operation may exceed those of its one shape.
    const Duration compute =
        tiled ? std::max(work.flops, tiles_->occupied(work.matrix)) / tile_rates_[arithmetic]
              : work.flops / rate;
    Duration memory = work.memory_time;
    if (in_flight_)
      memory = std::max(memory, portions_time(work.memory_latency, work.memory_bytes.in_base(),
                                              in_flight_->in_base()));
    return {.launch = launch_,
            .compute = compute,
            .body = sharpness_ ? blended(memory, compute, *sharpness_) : std::max(memory, compute)};
  }

  void fill_tiles(const MatrixTilesConfig& c, double efficiency) {
    tiles_.emplace(c);
    tiles_class_ = weakest_of(c);
    const double full = tiles_->full_efficiency(efficiency);
    std::ranges::transform(sheet_.peaks, tile_rates_.begin(),
                           [&](FlopRate peak) { return scale_down(peak, full); });
  }

  Duration launch_;
  std::optional<double> sharpness_;
  std::optional<Bytes> in_flight_;
  ComputeSheet sheet_;
  ByFamily<std::array<FlopRate, kArithmeticNames.size()>> rates_{};
  std::optional<MatrixTiles> tiles_;
  std::array<FlopRate, kArithmeticNames.size()> tile_rates_{};  // rates of full waves
  NumberClass tiles_class_ = NumberClass::measured;
  ByFamily<std::optional<CalibratedKernel>> calibrated_;
  TimedKernels timed_;
  ByFamily<bool> are_products_{};  // see are_products()
  NumberClass specified_ = NumberClass::assumed;
};

}  // namespace

void describe(Fields& f, FamilyEfficiency& c) {
  f.doc("Share of the peak that the kernels of a family reach.");
  for (std::size_t family = 0; family < c.of.size(); ++family)
    f.optional(kKernelFamilyNames[family], c.of[family], "Instead of `efficiency`.",
               share_limits());
}

void describe(Fields& f, CalibratedFamilies& c) {
  f.doc("Families that follow fits to timings; the others follow the specification.");
  for (std::size_t family = 0; family < c.of.size(); ++family)
    f.optional(kKernelFamilyNames[family], c.of[family], "Instead of the roofline.");
}

void describe(Fields& f, RooflineGpuConfig& c) {
  f.doc("One GPU as a roofline.");
  f.optional("part", c.part, "Which GPU this is, as calibrations name it: h200.");
  f.required("peak_bf16", c.peak_bf16, "Dense bf16 or fp16 rate.", flop_rate_limits());
  f.optional("peak_fp8", c.peak_fp8, "Dense fp8 rate; that of bf16 where absent.",
             flop_rate_limits());
  f.required("peak_int8", c.peak_int8, "Dense int8 rate.", flop_rate_limits());
  f.optional("peak_fp4", c.peak_fp4, "Dense fp4 rate; that of fp8 where absent.",
             flop_rate_limits());
  f.optional("l2", c.l2, "Size of the L2 cache, for kernels that were timed on another part.",
             positive());
  f.optional("sms", c.sms, "Streaming multiprocessors, likewise.", in_range(1, 100'000));
  f.required("efficiency", c.efficiency, "Share of the peak that a large matrix product reaches.",
             share_limits());
  f.optional("family_efficiency", c.family_efficiency, "For families that differ from it.");
  f.optional("matrix_tiles", c.matrix_tiles,
             "Tiles of matrix products; without them a product of any shape is as efficient.");
  f.optional("sharpness", c.sharpness,
             "p of (memory^p + compute^p)^(1/p); the larger of the two where absent.",
             in_range(1.0, 64.0));
  f.optional("in_flight", c.in_flight,
             "Bytes that all SMs keep in flight to the GPU's own memory; not a limit where absent.",
             positive());
  f.required("launch", c.launch, "Time from the end of one kernel to the start of the next.",
             latency_limits());
  f.optional("kernels", c.kernels, "Families that were fitted to timings.");
  f.optional("timed_kernels", c.timed_kernels,
             "Kernels by name that follow forms fitted to timings, as a calibration gives them.");
  f.importable(
      "calibration",
      "Fits to take `kernels` from, the first that has one: <part>/<date>-<id> below a folder "
      "`calibration`, or the path of a folder with gpu.yaml, relative to this file or "
      "absolute.",
      ImportCount::several);
}

std::unique_ptr<ComputeUnit> make_device(const RooflineGpuConfig& config) {
  return std::make_unique<RooflineGpu>(config);
}

void register_roofline_gpu(Registry<DeviceKind<ComputeUnit>>& registry) {
  registry.add("roofline_gpu", {"launch, arithmetic and memory as a roofline (analytic)",
                                &ConfiguredDevice<ComputeUnit, RooflineGpuConfig>::make});
}

}  // namespace tiersim
