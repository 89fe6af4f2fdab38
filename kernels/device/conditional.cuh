// Sets the value of a condition of the graph that the kernel runs in. Conditional nodes after it
// (runtime/conditional.cuh) run their body or skip it by this value.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
using Condition = cudaGraphConditionalHandle;
// For one thread of the grid only.
__device__ __forceinline__ void set_condition(Condition condition, unsigned value) {
  cudaGraphSetConditional(condition, value);
}
#else
using Condition = unsigned*;
inline void set_condition(Condition condition, unsigned value) {
  *condition = value;
}
#endif

}  // namespace tiersim::kernels
