// The exit vote of a batch. Every row decides by its confidence, a row that has exited stays so,
// and one status word is the AND over the rows (CALM, Schuster et al. 2022, section 3.1). Rows run
// in lockstep, so that a layer can be skipped only when all of them have exited.
#pragma once
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

// exited[rows]: 0 or 1, read in all layers but the first, written in all. status: 1 before the
// first block votes; afterwards 1 where all rows have exited.
struct ExitState {
  int* exited;
  int* status;
  float threshold;
  bool first_layer;
};

constexpr int kVoteThreads = 128;  // one warp for each row
constexpr int kVoteRows = kVoteThreads / kWarp;
constexpr int kVoteBytes = 4 * kVoteRows;  // of shared memory

// All threads of the block call it. `confidence` is read from lane 0 of each warp that has a row.
template <Mistake Planted = Mistake::none>
__device__ __forceinline__ void vote(const ExitState& state, int row, int rows, float confidence) {
  int* votes = shared_memory<int>();
  if (lane_index() == 0) {
    int leaves = Planted == Mistake::no_tail_mask ? 0 : 1;
    if (row < rows) {
      leaves = confidence >= state.threshold ? 1 : 0;
      if (!state.first_layer) {
        const int left = load_coherent(state.exited + row);
        if constexpr (Planted != Mistake::flags_forgotten) leaves |= left;
      }
      store(state.exited + row, leaves);
    }
    votes[warp_index()] = leaves;
  }
  if constexpr (Planted != Mistake::no_vote_barrier) __syncthreads();
  if (threadIdx.x == 0) {
    int all = 1;
    TS_UNROLL
    for (int i = 0; i < kVoteRows; ++i) all &= votes[i];
    atomic_and(state.status, all);
  }
}

}  // namespace tiersim::kernels
