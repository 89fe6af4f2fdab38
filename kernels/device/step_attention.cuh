// Attention of one new token per sequence over a short cache, as T5 decodes: no scaling of the
// scores, a bias by distance in self attention, lengths of some hundreds.
//
//   query, out [sequences][heads][64] bf16; keys, values [sequences][heads][capacity][64] bf16
//   lengths [sequences] int32: cached tokens, plus `extra` (1 where the new one was just appended)
//   bias [heads][capacity] fp32: added to the score of the token `distance` before the newest
//
// Grid (heads, sequences), 128 threads. Eight lanes take a token's 128 B of key and of value; each
// group of eight runs the online softmax (Milakov and Gimelshein 2018) over its own tokens, four
// at once so that 8 x 16 B a lane, 16 KB a block, are in flight; the 16 groups are joined at the
// end as FlashDecoding joins its splits. Not split over the sequence: at T5's lengths a block has
// at most 128 KB to read. Limited by latency at small batches, by HBM at large ones.
#pragma once
#include "kernels/device/cache_append.cuh"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

struct StepAttention {
  const bf16* query;
  const bf16* keys;
  const bf16* values;
  const int* lengths;
  const float* bias;  // of self attention
  int extra;
  int capacity;
  bf16* out;
};

constexpr int kStepThreads = 128;
constexpr int kStepLanes = 8;  // lanes of a token
constexpr int kStepGroups = kStepThreads / kStepLanes;
constexpr int kStepAtOnce = 4;                          // tokens of a group
constexpr int kStepTokens = kStepGroups * kStepAtOnce;  // of a block at once
constexpr int kStepRow = kHeadSize + 2;                 // fp32 of a group in shared memory
constexpr int kStepBytes = 4 * kStepGroups * kStepRow;  // of shared memory

// State of a group: the largest score, and relative to it the sum of weights and of values.
struct StepState {
  float largest;
  float sum;
  float values[8];  // this lane's numbers of the head
};

__device__ __forceinline__ float dot_of(const uint4& a, const uint4& b) {
  const unsigned x[4] = {a.x, a.y, a.z, a.w};
  const unsigned y[4] = {b.x, b.y, b.z, b.w};
  float sum = 0;
  TS_UNROLL
  for (int i = 0; i < 4; ++i) {
    sum = multiply_add(low_float(x[i]), low_float(y[i]), sum);
    sum = multiply_add(high_float(x[i]), high_float(y[i]), sum);
  }
  return sum;
}

// Folds kStepAtOnce tokens with their scores (-inf where there is none) into the state.
__device__ __forceinline__ void fold_tokens(StepState& state, const float (&scores)[kStepAtOnce],
                                            const uint4 (&values)[kStepAtOnce]) {
  float largest = state.largest;
  TS_UNROLL
  for (int i = 0; i < kStepAtOnce; ++i) largest = fmaxf(largest, scores[i]);
  if (largest == kMinusInfinity) return;  // no token yet
  const float scale = exp2_fast((state.largest - largest) * kLog2E);
  state.largest = largest;
  state.sum *= scale;
  TS_UNROLL
  for (int d = 0; d < 8; ++d) state.values[d] *= scale;
  TS_UNROLL
  for (int i = 0; i < kStepAtOnce; ++i) {
    const float weight = exp2_fast((scores[i] - largest) * kLog2E);
    const unsigned words[4] = {values[i].x, values[i].y, values[i].z, values[i].w};
    state.sum += weight;
    TS_UNROLL
    for (int d = 0; d < 4; ++d) {
      state.values[2 * d] = multiply_add(weight, low_float(words[d]), state.values[2 * d]);
      state.values[2 * d + 1] = multiply_add(weight, high_float(words[d]), state.values[2 * d + 1]);
    }
  }
}

// This group's tokens of a sequence: group, group + 16, ...
template <bool Biased, Mistake Planted>
__device__ __forceinline__ StepState attend(const StepAttention& of, std::int64_t head_row,
                                            int length) {
  const int group = static_cast<int>(threadIdx.x) / kStepLanes;
  const int at = 8 * (static_cast<int>(threadIdx.x) % kStepLanes);
  const auto unit = [&](const bf16* rows, std::int64_t row) {
    return load(reinterpret_cast<const uint4*>(rows + row * kHeadSize + at));
  };
  const uint4 query = unit(of.query, head_row);
  const std::int64_t first_row = head_row * of.capacity;
  const float* bias = of.bias;  // null where not Biased
  if constexpr (Biased) bias += static_cast<std::int64_t>(blockIdx.x) * of.capacity;
  StepState state = {kMinusInfinity, 0, {}};
  TS_NO_UNROLL
  for (int first = 0; first < length; first += kStepTokens) {
    uint4 keys[kStepAtOnce], values[kStepAtOnce];
    float scores[kStepAtOnce];
    TS_UNROLL
    for (int i = 0; i < kStepAtOnce; ++i) {
      const int token = first + i * kStepGroups + group;
      keys[i] = values[i] = make_uint4(0, 0, 0, 0);
      scores[i] = Planted == Mistake::no_tail_mask ? 0 : kMinusInfinity;
      if (token < length) {
        keys[i] = unit(of.keys, first_row + token);
        values[i] = unit(of.values, first_row + token);
        scores[i] = 0;
        if constexpr (Biased) scores[i] = load(bias + (length - 1 - token));
      }
    }
    TS_UNROLL
    for (int i = 0; i < kStepAtOnce; ++i) {
      scores[i] += warp_sum<kStepLanes>(dot_of(query, keys[i]));
    }
    fold_tokens(state, scores, values);
  }
  return state;
}

template <bool Biased, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kStepThreads) step_attention(StepAttention of) {
  const auto sequence = static_cast<std::int64_t>(blockIdx.y);
  const std::int64_t head_row = sequence * gridDim.x + blockIdx.x;
  const int extra = Planted == Mistake::newest_forgotten ? 0 : of.extra;
  const StepState mine = attend<Biased, Planted>(of, head_row, load(of.lengths + sequence) + extra);
  float* groups = shared_memory<float>();
  const int lane = static_cast<int>(threadIdx.x) % kStepLanes;
  float* row = groups + static_cast<int>(threadIdx.x) / kStepLanes * kStepRow;
  if (lane == 0) {
    row[kHeadSize] = mine.largest;
    row[kHeadSize + 1] = mine.sum;
  }
  TS_UNROLL
  for (int d = 0; d < 8; ++d) row[8 * lane + d] = mine.values[d];
  if constexpr (Planted != Mistake::no_vote_barrier) __syncthreads();
  const int dim = 2 * static_cast<int>(threadIdx.x);
  if (dim >= kHeadSize) return;
  float largest = kMinusInfinity;
  TS_UNROLL
  for (int g = 0; g < kStepGroups; ++g) {
    largest = fmaxf(largest, groups[g * kStepRow + kHeadSize]);
  }
  float sum = 0;
  float low = 0;
  float high = 0;
  TS_UNROLL
  for (int g = 0; g < kStepGroups; ++g) {
    const float* other = groups + g * kStepRow;
    if (other[kHeadSize] == kMinusInfinity) continue;  // the group had no token
    const float weight = exp2_fast((other[kHeadSize] - largest) * kLog2E);
    sum += weight * other[kHeadSize + 1];
    low += weight * other[dim];
    high += weight * other[dim + 1];
  }
  const float one = sum > 0 ? 1.0F / sum : 0;  // no tokens: zeros
  store(reinterpret_cast<unsigned*>(of.out + head_row * kHeadSize + dim),
        pack_bf16(low * one, high * one));
}

}  // namespace tiersim::kernels
