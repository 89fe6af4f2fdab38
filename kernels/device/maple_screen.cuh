// MAPLE's screening: low-rank INT8 scores of every cached token, fused with the exact choice of the
// k best. One block a (sequence, head); scores never leave shared memory.
//
//   keys    [sequences][heads][capacity][R]  int8   low-rank keys
//   queries [sequences][heads][R]            int8   projected query
//   lengths [sequences]                      int32  tokens in the cache, <= capacity; shared memory
//           of 227 KB holds 55936 tokens where k ids take 8 KB
//   ids     [sequences][heads][k]            Id     chosen tokens, ascending; of equal scores the
//           lowest tokens; kNoId behind the last where length < k (then no key is read)
//
// Launch: grid sequences * heads, block kScreenThreads, shared memory maple_screen_layout().bytes.
//
// R bytes a token are R / 16 lanes of 16 B each, so that a warp reads 512 contiguous bytes an
// instruction. Each lane multiplies its piece by dp4a. As many tokens as lanes share a token are
// summed together by one exchange. Each score goes to shared memory and, by its top 11 bits,
// directly into the first histogram of the selection. Scores are within R 2^14 of zero, at most 22
// bits, so that two histograms suffice.
//
// Limiter: HBM. 6 loads of 16 B a thread are 24 KB in flight a block; five blocks share an SM at
// 8192 tokens, so that one block's selection (about 3 us of 40) hides behind the others' loads.
// Estimate: 80 % of the floor's rate for 4096 heads of 8192 tokens and R = 32, 320 us on an H200.
#pragma once
#include "kernels/device/lane_sums.cuh"
#include "kernels/device/maple_screen_work.hpp"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/select.cuh"

namespace tiersim::kernels {

__device__ __forceinline__ int dot16(const uint4& a, const uint4& b) {
  int sum = dot4(static_cast<int>(a.x), static_cast<int>(b.x), 0);
  sum = dot4(static_cast<int>(a.y), static_cast<int>(b.y), sum);
  sum = dot4(static_cast<int>(a.z), static_cast<int>(b.z), sum);
  return dot4(static_cast<int>(a.w), static_cast<int>(b.w), sum);
}

// One warp computes groups of 32 tokens from `base` on: scores as keys of a selection, and the
// first histogram. Guarded: some of the tokens may be beyond the length.
template <int R, int Groups, bool Guarded, Mistake M, class Id>
__device__ __forceinline__ void screen_groups(const uint4* pieces, const uint4& query, int base,
                                              int length, const Selection<std::uint32_t, Id>& s) {
  constexpr int kLanes = kScreenLanes<R>;  // lanes of a token
  constexpr int kTokens = kWarp / kLanes;  // tokens of one load of a warp
  const int lane = lane_index();
  pieces += base * kLanes + lane;
  uint4 loaded[std::size_t{Groups}][std::size_t{kLanes}];
  TS_UNROLL
  for (int i = 0; i < Groups * kLanes; ++i) {
    uint4& to = loaded[i / kLanes][i % kLanes];
    if (!Guarded || base + i * kTokens + lane / kLanes < length) {
      to = load_streaming(pieces + i * kWarp);
    } else {
      to = make_uint4(0, 0, 0, 0);
    }
  }
  TS_UNROLL
  for (int group = 0; group < Groups; ++group) {
    int parts[std::size_t{kLanes}];
    TS_UNROLL
    for (int i = 0; i < kLanes; ++i) parts[i] = dot16(loaded[group][i], query);
    const int score = M == Mistake::lanes_not_paired ? parts[0] : lane_sums(parts);
    const int token = base + group * kWarp + lane % kLanes * kTokens + lane / kLanes;
    const bool real = !Guarded || token < length || M == Mistake::no_tail_mask;
    const unsigned key = real ? static_cast<unsigned>(score + kScreenKeyOfZero<R>) : 0U;
    s.keys[token] = key;
    if (real) atomic_add_shared(s.histogram + (key >> (kScreenKeyBits<R> - kDigitBits)), 1);
  }
}

// All tokens of a head: whole rounds of the block, then the rest group by group.
template <int R, Mistake M, class Id>
__device__ __forceinline__ void screen_tokens(const uint4* pieces, const uint4& query, int length,
                                              const Selection<std::uint32_t, Id>& s) {
  constexpr int kGroups = kScreenLoads<R> / kScreenLanes<R>;
  const int whole = length / (kGroups * kWarp) * (kGroups * kWarp);
  TS_NO_UNROLL
  for (int base = warp_index() * kGroups * kWarp; base < whole; base += kScreenThreads * kGroups) {
    screen_groups<R, kGroups, false, M>(pieces, query, base, length, s);
  }
  TS_NO_UNROLL
  for (int base = whole + warp_index() * kWarp; base < s.padded; base += kScreenThreads) {
    screen_groups<R, 1, true, M>(pieces, query, base, length, s);
  }
}

template <int R, class Id, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kScreenThreads, 5)
    maple_screen(const std::int8_t* keys, const std::int8_t* queries, const int* lengths, int heads,
                 int capacity, int k, Id* ids) {
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  const int length = load(lengths + static_cast<int>(blockIdx.x) / heads);
  if (length <= k) {
    store_all_ids<kScreenThreads>(length, k, ids + row * k);
    return;
  }
  const Selection<std::uint32_t, Id> s(capacity, length, k);
  const uint4 query =
      load(reinterpret_cast<const uint4*>(queries + row * R) + lane_index() % kScreenLanes<R>);
  clear_histogram<kScreenThreads>(s.histogram);
  __syncthreads();
  screen_tokens<R, M>(reinterpret_cast<const uint4*>(keys + row * capacity * R), query, length, s);
  if constexpr (M != Mistake::no_barrier_after_scores) __syncthreads();
  Threshold threshold = find_threshold<kScreenKeyBits<R>, kScreenThreads>(s, k);
  if constexpr (M == Mistake::equals_not_counted) threshold.equals = 0xffffU;
  stage_ids<kScreenThreads>(s, threshold);
  __syncthreads();
  store_ids<kScreenThreads>(s.staged, k, ids + row * k);
}

}  // namespace tiersim::kernels
