// Random inputs in device memory that the host can work out again (device/fill.cuh).
#pragma once
#include <algorithm>

#include "kernels/device/fill.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

// size(): a multiple of 8.
inline void fill(Stream& stream, DeviceArray<bf16>& array, std::uint64_t seed) {
  const auto count = static_cast<std::int64_t>(array.size());
  const std::int64_t blocks = std::clamp<std::int64_t>(count / (8 * kFillThreads), 1, 2048);
  if (count > 0) {
    launch(stream, fill_normal<bf16>, {dim3(static_cast<unsigned>(blocks)), dim3(kFillThreads)},
           array.data(), count, seed);
  }
}

// Number i of an array that fill() filled.
inline float filled_number(std::uint64_t seed, std::uint64_t i) {
  return to_float(to_bf16(random_normal_at(seed, i)));
}

}  // namespace tiersim::kernels
