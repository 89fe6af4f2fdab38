// A step of the hot buffer in one launch: lru_update and hot_gather, whose arguments and results it
// has, without moves in global memory.
//
// Launch: grid (blocks a sequence, batch), Threads threads, hot_step_shared_bytes(). With more than
// one block a sequence `next` must be another array than `held`.
//
// Each block of a sequence decides for itself: decisions depend on nothing but the list and the
// table, so that all blocks come to the same one. Then each copies its share of the units, by moves
// that it has in shared memory; the first block writes the table. Reading a table of 32 KB once
// more a block costs less than a second launch, and no block waits for another.
//
// Limiter: the decision's latency, some 3 us, then the link. 64 KB in flight a block of 1024
// threads: two of them fill PCIe gen5. Estimate: 5 us with few misses.
#pragma once
#include "kernels/device/hot_gather.cuh"
#include "kernels/device/hot_step_work.hpp"
#include "kernels/device/lru_update.cuh"

namespace tiersim::kernels {

template <int Threads, int Each, int RowUnits, bool Staged, Mistake M = Mistake::none>
__global__ void __launch_bounds__(Threads)
    hot_step(const LruArguments lru, const HotGatherArguments rows) {
  const int sequence = static_cast<int>(blockIdx.y);
  LruStep<Threads, Each, true, M> step(lru, sequence);
  const int misses = step.update();
  if constexpr (M != Mistake::no_barrier_before_tile) __syncthreads();
  const HotGather<RowUnits, Staged, true, M> gather(rows, sequence, step.moves(), misses,
                                                    step.count());
  gather.template copy<kHotStepLoads>(
      static_cast<int>(blockIdx.x) * Threads + static_cast<int>(threadIdx.x),
      static_cast<int>(gridDim.x) * Threads);
}

}  // namespace tiersim::kernels
