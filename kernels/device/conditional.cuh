// What a kernel tells the graph that it runs in: the value of a condition, by which conditional
// nodes after it (runtime/conditional.cuh) run a body or not.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
using Condition = cudaGraphConditionalHandle;
// One thread of the grid only.
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
