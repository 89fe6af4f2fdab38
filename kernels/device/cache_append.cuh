// Destination of the key and the value of a new token.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

constexpr int kHeadSize = 64;  // numbers of a head, T5's

// keys, values [tokens of the batch][heads][capacity][64] bf16; positions [tokens] int32: index of
// the new token in the cache of each sequence.
struct CacheAppend {
  bf16* keys;
  bf16* values;
  const int* positions;
  int heads;
  int capacity;
};

// Offset of numbers `row` and `row` + 1 of a token, counted over all heads.
__device__ __forceinline__ std::int64_t cache_offset(const CacheAppend& cache, int token, int row,
                                                     int position) {
  const std::int64_t sequence = static_cast<std::int64_t>(token) * cache.heads + row / kHeadSize;
  return (sequence * cache.capacity + position) * kHeadSize + row % kHeadSize;
}

}  // namespace tiersim::kernels
