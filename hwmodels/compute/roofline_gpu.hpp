#pragma once
// Model card: roofline_gpu (fidelity: analytic)
//   Models    the kernels of one GPU at specification level: launch, arithmetic and memory.
//   Equation  t = launch + (m^p + c^p)^(1/p), p = sharpness, and max(m, c) where it is absent;
//             c = flops / (peak of the arithmetic * efficiency of the family);
//             for a gemm of known shape, with `matrix_tiles`: c = FLOPs that fit into the waves
//             of whole tiles / (peak * efficiency of full waves), which gives `efficiency` again
//             for the product that it was measured on: matrix_tiles.hpp;
//             m = memory time, at least memory bytes * latency / in_flight (Little's law).
//   Ignores   waves, tails and padding of tiles beyond the counted FLOPs, except for such a gemm;
//             clocks and power, L2.
//   Valid     kernels large enough to fill the GPU; a gemm of any shape with `matrix_tiles`.
//   Fitted    a family under `kernels` follows its fit instead: calibrated_kernel.hpp; then
//             operations whose form stands under `timed_kernels`: timed_kernel.hpp.
//   Source    data sheets for peaks; efficiency from a measured 8192^3 bf16 matrix product.
//   Checked   tests/unit/hwmodels/compute_test.cpp, matrix_tiles_test.cpp
#include <array>
#include <map>
#include <optional>
#include <string>

#include "hwmodels/compute/calibrated_kernel.hpp"
#include "hwmodels/compute/matrix_tiles.hpp"
#include "hwmodels/compute/timed_kernel.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// Efficiencies of the kernel families that differ from the common one.
struct FamilyEfficiency {
  std::array<std::optional<Sourced<double>>, kKernelFamilyNames.size()> of;
};

/// Fits of the kernel families that were fitted to timings.
struct CalibratedFamilies {
  std::array<std::optional<CalibratedKernelConfig>, kKernelFamilyNames.size()> of;
};

struct RooflineGpuConfig {
  std::string part;  ///< name of this GPU among the timed parts: "h200"
  Sourced<FlopRate> peak_bf16;
  std::optional<Sourced<FlopRate>> peak_fp8;
  Sourced<FlopRate> peak_int8;
  std::optional<Sourced<FlopRate>> peak_fp4;
  std::optional<Sourced<Bytes>> l2;
  std::optional<Sourced<std::int64_t>> sms;
  Sourced<double> efficiency;
  std::optional<FamilyEfficiency> family_efficiency;
  std::optional<MatrixTilesConfig> matrix_tiles;
  std::optional<Sourced<double>> sharpness;
  std::optional<Sourced<Bytes>> in_flight;
  Sourced<Duration> launch;
  std::optional<CalibratedFamilies> kernels;
  std::optional<std::map<std::string, TimedKernelConfig>> timed_kernels;
};

void describe(Fields& f, FamilyEfficiency& c);
void describe(Fields& f, CalibratedFamilies& c);
void describe(Fields& f, RooflineGpuConfig& c);
std::unique_ptr<ComputeUnit> make_device(const RooflineGpuConfig& config);
void register_roofline_gpu(Registry<DeviceKind<ComputeUnit>>& registry);

}  // namespace tiersim
