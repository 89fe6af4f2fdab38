// Barriers of a part of the block's warps, sm_80 and later.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
// Barrier 1..15 of the block for `threads` threads in whole warps.
__device__ __forceinline__ void named_barrier_wait(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#else
inline void named_barrier_wait(int id, int threads, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  emulator::block().named_barrier(id, threads, true, {"named_barrier_wait", file, line});
}
inline void named_barrier_arrive(int id, int threads, const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
  emulator::block().named_barrier(id, threads, false, {"named_barrier_arrive", file, line});
}
#endif

}  // namespace tiersim::kernels
