// Joins the partial outputs of two shards on one card: out = a + b. It is the addition of a
// one-shot all-reduce of two devices; the time on the link is not included.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

constexpr int kJoinThreads = 256;
constexpr int kJoinUnits = 4;  // units of 16 B from each shard that a thread loads at a time

__device__ __forceinline__ unsigned add_pairs(unsigned a, unsigned b) {
  return pack_bf16(low_float(a) + low_float(b), high_float(a) + high_float(b));
}
__device__ __forceinline__ uint4 add_units(const uint4& a, const uint4& b) {
  return {add_pairs(a.x, b.x), add_pairs(a.y, b.y), add_pairs(a.z, b.z), add_pairs(a.w, b.w)};
}

// a, b, out: `units` of 8 bf16 each; sums in fp32, rounded once. Any grid of kJoinThreads, best
// one thread per kJoinUnits units. Limiter: the launch below 10 MB, then memory; 128 B a thread in
// flight.
template <int Units = kJoinUnits>
__global__ void __launch_bounds__(kJoinThreads)
    join_shards(const uint4* a, const uint4* b, uint4* out, std::int64_t units) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kJoinThreads;
  std::int64_t at = std::int64_t{blockIdx.x} * kJoinThreads + threadIdx.x;
  for (; at + (Units - 1) * stride < units; at += Units * stride) {
    uint4 x[std::size_t{Units}];
    uint4 y[std::size_t{Units}];
    TS_UNROLL
    for (int i = 0; i < Units; ++i) x[i] = load(a + at + i * stride);
    TS_UNROLL
    for (int i = 0; i < Units; ++i) y[i] = load(b + at + i * stride);
    TS_UNROLL
    for (int i = 0; i < Units; ++i) store(out + at + i * stride, add_units(x[i], y[i]));
  }
  for (; at < units; at += stride) store(out + at, add_units(load(a + at), load(b + at)));
}

}  // namespace tiersim::kernels
