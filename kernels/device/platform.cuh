// Target of the compilation: TS_ON_CARD is 1 under nvcc, 0 on the emulator. Kernels include this
// and the thin layer beside it, no CUDA header directly, and test TS_ON_CARD nowhere else.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define TS_ON_CARD 1
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#else
#define TS_ON_CARD 0
#include "kernels/emulator/cuda.hpp"
#endif

// Unrolls the following loop, fully or by n. g++ would warn of the pragma and does not need it.
#if defined(__CUDACC__) || defined(__clang__)
#define TS_UNROLL _Pragma("unroll")
#define TS_NO_UNROLL _Pragma("unroll 1")
#define TS_PRAGMA(words) _Pragma(#words)
#define TS_UNROLL_BY(n) TS_PRAGMA(unroll n)
#else
#define TS_UNROLL
#define TS_NO_UNROLL
#define TS_UNROLL_BY(n)
#endif

namespace tiersim::kernels {

using bf16 = __nv_bfloat16;

constexpr unsigned kAllLanes = 0xffffffffU;
constexpr int kWarp = 32;

__device__ __forceinline__ int lane_index() {
  return static_cast<int>(threadIdx.x) % kWarp;
}
__device__ __forceinline__ int warp_index() {
  return static_cast<int>(threadIdx.x) / kWarp;
}

// The same number, hidden from the optimiser: expressions of it are computed at their use instead
// of staying in registers over a loop.
__device__ __forceinline__ int forget(int value) {
#if TS_ON_CARD
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// The block's dynamic shared memory, 1024 B aligned. There is no static shared memory.
#if TS_ON_CARD
extern __shared__ __align__(1024) unsigned char dynamic_shared_memory[];
template <class T>
__device__ __forceinline__ T* shared_memory(std::size_t byte_offset = 0) {
  return reinterpret_cast<T*>(dynamic_shared_memory + byte_offset);
}
#else
template <class T>
T* shared_memory(std::size_t byte_offset = 0) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(emulator::block().shared()) +
                              byte_offset);
}
#endif

}  // namespace tiersim::kernels
