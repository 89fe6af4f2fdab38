// Exact attention of one query a head over selected tokens, straight from the list of their
// indices: rows of K and V go from HBM into a ring in shared memory, no gathered copy is made.
//
//   queries [sequences][heads][D]            bf16
//   keys    [sequences][heads][capacity][D]  bf16   values likewise
//   ids     [sequences][heads][k]            Id     the first min(k, length) of each list are taken
//   lengths [sequences]                      int32  tokens in the cache
//   scale   of the scores, 1 / sqrt(D) by custom
// One split: out [sequences][heads][D] bf16; zeros where there is nothing to attend to. More splits
// (FlashDecoding's split over the sequence, here over the list; for small batches):
//   partial [splits][sequences * heads][D] fp32   each split's own result
//   lse     [splits][sequences * heads]    fp32   natural logarithm of its sum; -inf: nothing
// for combine_splits.
//
// Launch: grid (splits, sequences * heads <= 65535), block kSelectedThreads,
// selected_layout().bytes.
//
// D / 8 lanes share a row and copy, wait for and read only their own 16 B of it, so that the ring
// needs no barrier: it is a queue of each thread, deeper than registers would allow. Softmax runs
// online, a group of lanes at a time, 4 rows a step; groups meet once at the end. FMA: with one
// query a head there is no tile for mma to fill.
//
// Limiter: HBM, rows of 2 D bytes in random order. Two stages of 16 KB in flight a block, four
// blocks an SM: 128 KB, five times what latency asks. Arithmetic: about 75 warp instructions per
// KB, a third of what an SM issues at full bandwidth.
// Estimate: 80 % of the floor's rate for 4096 heads of 2048 rows, 1260 us on an H200.
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/rows.cuh"
#include "kernels/device/selected_attention_work.hpp"

namespace tiersim::kernels {

// State of one group of lanes; each lane holds 8 columns. Scores are in powers of two.
struct SelectedState {
  float top = kMinusInfinity;
  float sum = 0;
  float out[8] = {0, 0, 0, 0, 0, 0, 0, 0};
};

// This thread's unit in the ring: [stage][K, V][row][thread] units of 16 B.
__device__ __forceinline__ uint4* selected_slot(int stage, int matrix, int row) {
  return shared_memory<uint4>() + ((stage * 2 + matrix) * kSelectedRows + row) * kSelectedThreads +
         static_cast<int>(threadIdx.x);
}

// Starts the copies of one step; commits even where none is left, so that groups count steps.
template <int D, class Id>
__device__ __forceinline__ void fetch_selected(const bf16* keys, const bf16* values, const Id* ids,
                                               int rows, int step, int stage) {
  constexpr int kLanes = kSelectedLanes<D>;
  const int first =
      step * kSelectedBlockRows<D> + static_cast<int>(threadIdx.x) / kLanes * kSelectedRows;
  if (step * kSelectedBlockRows<D> < rows) {
    TS_UNROLL
    for (int i = 0; i < kSelectedRows; ++i) {
      const int valid = first + i < rows ? 16 : 0;  // beyond: zeros, of weight 0
      const int token = valid != 0 ? static_cast<int>(ids[first + i]) : 0;
      const std::int64_t at =
          static_cast<std::int64_t>(token) * D + static_cast<int>(threadIdx.x) % kLanes * 8;
      copy_async(selected_slot(stage, 0, i), keys + at, valid);
      copy_async(selected_slot(stage, 1, i), values + at, valid);
    }
  }
  copy_async_commit();
}

template <int D, Mistake M>
__device__ __forceinline__ void attend_selected(SelectedState& state, const float (&query)[8],
                                                int rows, int step, int stage) {
  constexpr int kLanes = kSelectedLanes<D>;
  const int first =
      step * kSelectedBlockRows<D> + static_cast<int>(threadIdx.x) / kLanes * kSelectedRows;
  float scores[kSelectedRows];
  TS_UNROLL
  for (int i = 0; i < kSelectedRows; ++i) scores[i] = dot8(query, *selected_slot(stage, 0, i));
  float top = state.top;
  TS_UNROLL
  for (int i = 0; i < kSelectedRows; ++i) {
    scores[i] = warp_sum<kLanes>(scores[i]);
    if (first + i >= rows && M != Mistake::no_tail_mask) scores[i] = kMinusInfinity;
    top = fmaxf(top, scores[i]);
  }
  const float origin = top == kMinusInfinity ? 0.0F : top;
  const float kept = exp2_fast(state.top - origin);
  state.sum *= kept;
  TS_UNROLL
  for (int d = 0; d < 8; ++d) state.out[d] *= kept;
  TS_UNROLL
  for (int i = 0; i < kSelectedRows; ++i) {
    const float weight = exp2_fast(scores[i] - origin);
    state.sum += weight;
    add8(state.out, weight, *selected_slot(stage, 1, i));
  }
  state.top = top;
}

// Joins the states of all groups; thread d writes column d. Uses the memory of the ring.
template <int D>
__device__ __forceinline__ void merge_selected(const SelectedState& state, std::int64_t row,
                                               bf16* out, float* partial, float* lse) {
  constexpr int kGroups = kSelectedGroups<D>;
  const int thread = static_cast<int>(threadIdx.x);
  const int group = thread / kSelectedLanes<D>;
  const int lane = thread % kSelectedLanes<D>;
  auto* columns = shared_memory<float>();  // [group][D]
  float* tops = columns + kGroups * D;
  float* sums = tops + kGroups;
  __syncthreads();
  TS_UNROLL
  for (int d = 0; d < 8; d += 4) {
    *reinterpret_cast<float4*>(columns + group * D + lane * 8 + d) =
        make_float4(state.out[d], state.out[d + 1], state.out[d + 2], state.out[d + 3]);
  }
  if (lane == 0) tops[group] = state.top;
  if (lane == 0) sums[group] = state.sum;
  __syncthreads();
  if (thread >= D) return;
  float top = kMinusInfinity;
  TS_UNROLL
  for (int g = 0; g < kGroups; ++g) top = fmaxf(top, tops[g]);
  const float origin = top == kMinusInfinity ? 0.0F : top;
  float sum = 0;
  float value = 0;
  TS_UNROLL
  for (int g = 0; g < kGroups; ++g) {
    const float weight = exp2_fast(tops[g] - origin);
    sum += weight * sums[g];
    value += weight * columns[g * D + thread];
  }
  value = sum > 0 ? value / sum : 0.0F;
  if (gridDim.x == 1) {
    store(out + row * D + thread, to_bf16(value));
    return;
  }
  const std::int64_t part = static_cast<std::int64_t>(blockIdx.x) * gridDim.y + row;
  store(partial + part * D + thread, value);
  if (thread == 0) store(lse + part, sum > 0 ? (top + log2_fast(sum)) * kLn2 : kMinusInfinity);
}

template <int D, class Id, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kSelectedThreads, 4)
    selected_attention(const bf16* queries, const bf16* keys, const bf16* values, const Id* ids,
                       const int* lengths, int heads, int capacity, int k, float scale, bf16* out,
                       float* partial, float* lse) {
  const int splits = static_cast<int>(gridDim.x);
  const auto row = static_cast<std::int64_t>(blockIdx.y);
  const int chunk = selected_chunk<D>(k, splits);
  const int first = static_cast<int>(blockIdx.x) * chunk;
  const int count = min(k, load(lengths + static_cast<int>(blockIdx.y) / heads));
  const int rows = max(min(count - first, chunk), 0);
  auto* own_ids = shared_memory<Id>(selected_layout<D, Id>(k, splits).ids);
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += kSelectedThreads) {
    own_ids[i] = load(ids + row * k + first + i);
  }
  const uint4 packed = load(reinterpret_cast<const uint4*>(queries + row * D) +
                            static_cast<int>(threadIdx.x) % kSelectedLanes<D>);
  const float factor = scale * kLog2E;
  const float query[8] = {low_float(packed.x) * factor, high_float(packed.x) * factor,
                          low_float(packed.y) * factor, high_float(packed.y) * factor,
                          low_float(packed.z) * factor, high_float(packed.z) * factor,
                          low_float(packed.w) * factor, high_float(packed.w) * factor};
  keys += row * capacity * D;
  values += row * capacity * D;
  __syncthreads();
  constexpr int kAhead = kSelectedStages - 1;
  TS_UNROLL
  for (int step = 0; step < kAhead; ++step)
    fetch_selected<D>(keys, values, own_ids, rows, step, step);
  SelectedState state;
  int stage = 0;
  for (int step = 0; step * kSelectedBlockRows<D> < rows; ++step) {
    copy_async_wait<M == Mistake::copies_waited_late ? kAhead : kAhead - 1>();
    const int free = stage == 0 ? kAhead : stage - 1;  // read in the step before
    fetch_selected<D>(keys, values, own_ids, rows, step + kAhead,
                      M == Mistake::ring_overwritten ? stage : free);
    attend_selected<D, M>(state, query, rows, step, stage);
    stage = stage == kAhead ? 0 : stage + 1;
  }
  copy_async_wait<0>();
  merge_selected<D>(state, row, out, partial, lse);
}

}  // namespace tiersim::kernels
