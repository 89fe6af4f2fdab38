// Random inputs in device memory that the host can recompute (device/fill.cuh).
#pragma once
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/device/fill.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

// Number i of an array that fill() filled.
inline float filled_number(std::uint64_t seed, std::uint64_t i) {
  return to_float(to_bf16(random_normal_at(seed, i)));
}

// Filled by a kernel on the card, where size() must be a multiple of 8. Filled by the host on the
// emulator, where threads of a kernel cost more than the numbers.
inline void fill([[maybe_unused]] Stream& stream, DeviceArray<bf16>& array, std::uint64_t seed) {
  if (array.size() % 8 != 0) throw std::invalid_argument("a fill of a size that 8 does not divide");
#if TS_ON_CARD
  const auto count = static_cast<std::int64_t>(array.size());
  const std::int64_t blocks = std::clamp<std::int64_t>(count / (8 * kFillThreads), 1, 2048);
  if (count == 0) return;
  launch(stream, fill_normal<bf16>, {dim3(static_cast<unsigned>(blocks)), dim3(kFillThreads)},
         array.data(), count, seed);
#else
  std::vector<bf16> values;
  values.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    values.push_back(to_bf16(random_normal_at(seed, i)));
  }
  array.upload(values);
#endif
}

}  // namespace tiersim::kernels
