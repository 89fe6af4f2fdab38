#pragma once
// A GPU of made-up numbers, with or without timed kernels.
#include <string>
#include <string_view>
#include <utility>

#include "hwmodels/compute/roofline_gpu.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::testing {

/// Device file of a GPU whose matrix products have an assumed efficiency.
inline constexpr std::string_view kUntimedGpu =
    "schema: tiersim.device/v1\n"
    "part: h200\n"
    "peak_bf16: {value: 989 TFLOP/s, class: specification, source: data sheet}\n"
    "peak_fp8: {value: 1979 TFLOP/s, class: specification, source: data sheet}\n"
    "peak_int8: {value: 1979 TFLOP/s, class: specification, source: data sheet}\n"
    "efficiency: {value: 0.8, class: assumed, source: a guess}\n"
    "launch: {value: 2 us, class: assumed, source: a guess}\n";

struct LoadedGpu {
  RooflineGpuConfig config;
  std::string mistakes;
};

/// Reads the device file `gpu` with the kernels of `timed`, a text that timed_kernels_yaml() wrote;
/// without kernels if `timed` is empty.
inline LoadedGpu load_gpu(const std::string& timed, std::string gpu = std::string(kUntimedGpu)) {
  Diagnostics diagnostics;
  if (!timed.empty()) gpu += timed.substr(timed.find("timed_kernels:"));
  const Document document = load_text(gpu, "gpu.yaml", {}, diagnostics);
  auto config = read<RooflineGpuConfig>(document, "device", diagnostics);
  return {std::move(config), diagnostics.text()};
}

}  // namespace tiersim::testing
