// Upper limits of the card, from the simplest kernels: copy, read, gather rows, follow pointers.
// `from` is in device memory or in pinned host memory (loads over the link). The floors of all
// other kernels are their bytes over these rates.
#pragma once
#include "kernels/device/memory.cuh"
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

constexpr int kSumThreads = 512;  // of a block in these kernels

__device__ __forceinline__ std::int64_t thread_of_grid() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t threads_of_grid() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}
__device__ __forceinline__ unsigned sum_of(const uint4& v) {
  return v.x + v.y + v.z + v.w;
}

// to[i] = from[i] for units of 16 bytes; Unroll loads of a thread are in flight at once.
template <unsigned Unroll>
__global__ void __launch_bounds__(kSumThreads)
    device_copy(const uint4* from, uint4* to, std::int64_t units) {
  const std::int64_t stride = threads_of_grid();
  std::int64_t at = thread_of_grid();
  for (; at + (Unroll - 1) * stride < units; at += Unroll * stride) {
    uint4 v[Unroll];
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) v[i] = load(from + at + i * stride);
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) store(to + at + i * stride, v[i]);
  }
  for (; at < units; at += stride) store(to + at, load(from + at));
}

// sums[thread] = sum of the 32-bit words that the thread read, modulo 2^32.
template <unsigned Unroll>
__global__ void __launch_bounds__(kSumThreads)
    read_sum(const uint4* from, std::int64_t units, unsigned* sums) {
  const std::int64_t stride = threads_of_grid();
  std::int64_t at = thread_of_grid();
  unsigned sum = 0;
  for (; at + (Unroll - 1) * stride < units; at += Unroll * stride) {
    uint4 v[Unroll];
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) v[i] = load(from + at + i * stride);
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) sum += sum_of(v[i]);
  }
  for (; at < units; at += stride) sum += sum_of(load(from + at));
  store(sums + thread_of_grid(), sum);
}

// The same over rows[0..count) of a table whose rows have RowBytes, neighbouring threads on
// neighbouring units of a row.
template <int RowBytes, unsigned Unroll>
__global__ void __launch_bounds__(kSumThreads)
    row_gather(const uint4* table, const int* rows, std::int64_t count, unsigned* sums) {
  constexpr int kUnits = RowBytes / 16;
  const std::int64_t stride = threads_of_grid();
  const std::int64_t units = count * kUnits;
  std::int64_t at = thread_of_grid();
  unsigned sum = 0;
  const auto place = [&](std::int64_t unit) {
    return table + static_cast<std::int64_t>(load(rows + unit / kUnits)) * kUnits + unit % kUnits;
  };
  for (; at + (Unroll - 1) * stride < units; at += Unroll * stride) {
    uint4 v[Unroll];
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) v[i] = load(place(at + i * stride));
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) sum += sum_of(v[i]);
  }
  for (; at < units; at += stride) sum += sum_of(load(place(at)));
  store(sums + thread_of_grid(), sum);
}

// One thread follows next[Stride * i] from 0 for `steps` steps; latency is time over steps.
constexpr int kChaseStride = 32;  // numbers: 128 B, a line each
template <int Stride>
__global__ void pointer_chase(const unsigned* next, int steps, unsigned* last) {
  std::int64_t at = 0;
  for (int step = 0; step < steps; ++step) at = load(next + at * Stride);
  store(last, static_cast<unsigned>(at));
}

}  // namespace tiersim::kernels
