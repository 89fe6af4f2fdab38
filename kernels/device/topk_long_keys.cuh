// Keys of fp32 scores as topk_long (topk_long.cuh) handles them.
#pragma once
#include "kernels/device/topk.cuh"

namespace tiersim::kernels {

// The score of a key; -0 for the key between -0 and 0, which no score has.
__device__ __forceinline__ float score_of(unsigned key) {
  constexpr unsigned kSign = 0x80000000U;
  return __uint_as_float((key & kSign) != 0 ? key ^ kSign : ~key);
}

__device__ __forceinline__ unsigned warp_max_of(unsigned value) {
  TS_UNROLL
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = max(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

// Keys that are not 0: the least, the largest, and how many.
struct KeyRange {
  unsigned low = ~0U;
  unsigned high = 0;
  unsigned count = 0;

  __device__ __forceinline__ void add(unsigned key) {
    if (key == 0) return;
    low = min(low, key);
    high = max(high, key);
    ++count;
  }
  // Bits of the differences from the least.
  __device__ __forceinline__ int bits() const {
    return high == low ? 0 : 32 - __clz(static_cast<int>(high - low));
  }
};

}  // namespace tiersim::kernels
