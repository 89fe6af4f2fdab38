// Sums of several values across lanes at once: Width values need Width - 1 shuffles instead of
// Width log2(Width).
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

// One exchange: each lane keeps the half of its parts with its own result and gives away the other
// half. Each step is a template, since parts must stay in registers.
template <int Half, int Stride = 1, class T, std::size_t Width>
__device__ __forceinline__ void exchange_parts(T (&parts)[Width]) {
  const bool upper = (lane_index() & Half * Stride) != 0;
  TS_UNROLL
  for (int i = 0; i < Half; ++i) {
    const T kept = upper ? parts[i + Half] : parts[i];
    const T given = upper ? parts[i] : parts[i + Half];
    parts[i] = kept + __shfl_xor_sync(kAllLanes, given, Half * Stride);
  }
  if constexpr (Half > 1) exchange_parts<Half / 2, Stride>(parts);
}

// parts[i] summed over each group of Width lanes that are Stride apart; lane l gets the sum of
// parts[l / Stride % Width]. Overwrites parts.
template <int Stride = 1, class T, std::size_t Width>
__device__ __forceinline__ T lane_sums(T (&parts)[Width]) {
  if constexpr (Width > 1) exchange_parts<static_cast<int>(Width) / 2, Stride>(parts);
  return parts[0];
}

}  // namespace tiersim::kernels
