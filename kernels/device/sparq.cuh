// SparQ attention's first step (Ribar et al., "SparQ Attention: Bandwidth-Efficient LLM Inference",
// 2024, algorithm 1): scores of all cached tokens from the R components of the query that are
// largest in size. Its second step is topk over these scores and its third selected_attention.
//
// Left out: the softmax and its temperature, which do not change which scores are largest; and the
// third step's mean-value correction, which adds one row of V a head and no other traffic.
//
//   queries [sequences][heads][D]            bf16
//   two copies: keys [sequences][heads][D][capacity] bf16, a second copy of K with the tokens of a
//               component side by side: R contiguous rows are read
//   one copy:   keys [sequences][heads][capacity][D] bf16, K itself: R numbers of 2 B are read of
//               each row of 2 D bytes, and with them nearly every 32 B sector: the counter-example,
//               which saves no traffic
//   lengths [sequences]                      int32, <= capacity; capacity a multiple of 8
//   scores  [sequences * heads][capacity]    fp32  query dot key over the chosen components; of the
//           up to 7 tokens that fill the last unit of 8, whatever their memory gives (two copies)
//           or zeros (one copy)
//
// Launch: grid (blocks of kSparqTokensOf..., sequences * heads), block kSparqThreads, shared memory
// sparq_shared_bytes(D, R).
//
// Limiter: HBM, by 2 R bytes a token with two copies (4 loads of 16 B a thread, 16 KB in flight a
// block and eight blocks an SM) and by about 2 D with one (every lane a component, 32 tokens a warp
// in flight). Estimate: 80 % of those floors' rates.
#pragma once
#include "kernels/device/lane_sums.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/rows.cuh"
#include "kernels/device/sparq_work.hpp"

namespace tiersim::kernels {

// The R components of a query with the largest magnitude, the first of equal ones; in shared
// memory.
template <int R>
struct SparqQuery {
  int* components;
  float* values;
};
template <int D, int R, Mistake M>
__device__ __forceinline__ SparqQuery<R> choose_components(const bf16* query) {
  auto* sizes = shared_memory<unsigned>();
  const SparqQuery<R> chosen{shared_memory<int>(D * 4), shared_memory<float>(D * 4 + R * 4)};
  const int own = static_cast<int>(threadIdx.x);
  float value = 0;
  if (own < D) {
    value = to_float(load(query + own));
    sizes[own] = __float_as_uint(value) & 0x7fffffffU;  // ordered by magnitude
  }
  if constexpr (M != Mistake::no_barrier_after_scores) __syncthreads();
  if (own < D) {
    const unsigned size = sizes[own];
    int rank = 0;
    TS_UNROLL
    for (int i = 0; i < D; ++i) {
      rank += sizes[i] > size || (sizes[i] == size && i < own) ? 1 : 0;
    }
    if (rank < R) {
      chosen.components[rank] = own;
      chosen.values[rank] = value;
    }
  }
  __syncthreads();
  return chosen;
}

template <int D, int R, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kSparqThreads, 8)
    sparq_scores_two_copies(const bf16* queries, const bf16* keys, const int* lengths, int heads,
                            int capacity, float* scores) {
  const auto row = static_cast<std::int64_t>(blockIdx.y);
  const int length = load(lengths + static_cast<int>(blockIdx.y) / heads);
  const int first = static_cast<int>(blockIdx.x) * kSparqTokensOfCopies;
  if (first >= length) return;
  const SparqQuery<R> query = choose_components<D, R, M>(queries + row * D);
  const int token = first + static_cast<int>(threadIdx.x) * 8;
  if (token >= length) return;
  keys += row * D * capacity + token;
  float sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  TS_NO_UNROLL
  for (int i = 0; i < R; i += kSparqLoads) {
    uint4 loaded[kSparqLoads];
    TS_UNROLL
    for (int j = 0; j < kSparqLoads; ++j) {
      const std::int64_t component = query.components[i + j];
      loaded[j] = load_streaming(reinterpret_cast<const uint4*>(keys + component * capacity));
    }
    TS_UNROLL
    for (int j = 0; j < kSparqLoads; ++j) add8(sums, query.values[i + j], loaded[j]);
  }
  auto* to = reinterpret_cast<float4*>(scores + row * capacity + token);
  store(to, make_float4(sums[0], sums[1], sums[2], sums[3]));
  store(to + 1, make_float4(sums[4], sums[5], sums[6], sums[7]));
}

template <int D, int R, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kSparqThreads)
    sparq_scores_one_copy(const bf16* queries, const bf16* keys, const int* lengths, int heads,
                          int capacity, float* scores) {
  constexpr int kLanes = R < kWarp ? R : kWarp;  // lanes of a token
  constexpr int kEach = R / kLanes;              // components of a lane
  constexpr int kTokens = kWarp / kLanes;        // tokens of one load of a warp
  const auto row = static_cast<std::int64_t>(blockIdx.y);
  const int length = load(lengths + static_cast<int>(blockIdx.y) / heads);
  const int first = static_cast<int>(blockIdx.x) * kSparqTokensOfOneCopy;
  if (first >= length) return;
  const SparqQuery<R> query = choose_components<D, R, M>(queries + row * D);
  const int base = first + warp_index() * kWarp;
  if (base >= length) return;
  const int lane = lane_index();
  keys += row * capacity * D;
  float parts[std::size_t{kLanes}];
  TS_UNROLL
  for (int i = 0; i < kLanes; ++i) parts[i] = 0;
  TS_UNROLL
  for (int j = 0; j < kEach; ++j) {
    const int component = query.components[j * kLanes + lane % kLanes];
    const float value = query.values[j * kLanes + lane % kLanes];
    TS_UNROLL
    for (int i = 0; i < kLanes; ++i) {
      const int token = base + i * kTokens + lane / kLanes;
      float key = 0;
      if (token < length) {
        key = to_float(load(keys + static_cast<std::int64_t>(token) * D + component));
      }
      parts[i] = multiply_add(value, key, parts[i]);
    }
  }
  const float sum = M == Mistake::lanes_not_paired ? parts[0] : lane_sums(parts);
  const int token = base + lane % kLanes * kTokens + lane / kLanes;
  if (token < round_up(length, 8)) store(scores + row * capacity + token, sum);
}

}  // namespace tiersim::kernels
