// Overlap of two launches of a stream (programmatic dependent launch, sm_90 and later). The second
// one must be enqueued by launch_early() of runtime/launch.cuh. It may then start before the first
// has ended, and must wait before it touches anything that an earlier launch writes. Elsewhere both
// calls do nothing.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

// The next launch may start once all blocks have called this or have ended.
__device__ __forceinline__ void start_next_launch() {
#if TS_ON_CARD && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Waits until the launch before has ended and its writes are visible. Memory that it wrote is not
// read-only: load it by load_coherent.
__device__ __forceinline__ void wait_for_previous_launch() {
#if TS_ON_CARD && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace tiersim::kernels
