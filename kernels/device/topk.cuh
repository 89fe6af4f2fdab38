// The k largest scores of each row, exactly: their indices in ascending order, of equal scores the
// lowest. One block a row; see select.cuh for the method.
//
//   scores  [rows][capacity]  Format's numbers (float, or the bits of fp16 or bf16); capacity a
//           multiple of 8. The numbers behind a row's length are read up to the next 16 B, and
//           ignored.
//   lengths [rows / rows_per_length]  int32, <= capacity <= 65535; 55936 for fp32 (shared memory)
//   ids     [rows][k]  Id; kNoId behind the last where length < k (then no score is read)
//
// Order: -0 equals 0; every NaN ranks below -inf, and equals every other NaN.
// Launch: grid rows, block kTopkThreads, shared memory topk_layout().bytes.
//
// 16 B loads, four of them a thread in flight: 16 KB a block, five blocks an SM at 8192 fp32 scores
// (six at 16 bits). Limiter: not HBM at these sizes but instructions on the keys: an SM has 1.3 us
// a row of 8192 fp32 scores at the floor, and one row asks for about 9000 warp instructions and 256
// warps' atomics in shared memory, some 2.5 us: half of the floor's rate.
#pragma once
#include "kernels/device/mistakes.hpp"
#include "kernels/device/select.cuh"
#include "kernels/device/topk_work.hpp"

namespace tiersim::kernels {

// The bits of a number of Format as a key: larger numbers have larger keys, and no key is 0.
template <class Format>
__device__ __forceinline__ unsigned ordered_key(unsigned bits) {
  constexpr unsigned kSign = 1U << (Format::kBits - 1);
  constexpr unsigned kAll = kSign | (kSign - 1);
  if (bits == kSign) bits = 0;                                   // -0
  const unsigned negative = 0U - (bits >> (Format::kBits - 1));  // all ones, or none
  const unsigned key = (bits ^ (negative | kSign)) & kAll;
  return (bits & (kSign - 1)) > Format::kInfinity ? 1U : key;
}

// Reads units of 16 B, one every kTopkThreads from `first` on, into shared memory as keys, and
// counts the first histogram. Guarded: tokens may be beyond the length.
template <class Format, int Loads, bool Guarded, Mistake M, class Id>
__device__ __forceinline__ void load_units(const uint4* scores, int first, int length,
                                           const Selection<typename Format::Key, Id>& s) {
  using Key = typename Format::Key;
  constexpr int kEach = kKeysPerUnit<Key>;
  uint4 loaded[std::size_t{Loads}];
  TS_UNROLL
  for (int i = 0; i < Loads; ++i) {
    const int unit = first + i * kTopkThreads;
    if (!Guarded || unit * kEach < length) {
      loaded[i] = load_streaming(scores + unit);
    } else {
      loaded[i] = make_uint4(0, 0, 0, 0);
    }
  }
  TS_UNROLL
  for (int i = 0; i < Loads; ++i) {
    const int unit = first + i * kTopkThreads;
    const unsigned words[4] = {loaded[i].x, loaded[i].y, loaded[i].z, loaded[i].w};
    KeyUnit<Key> keys;
    TS_UNROLL
    for (int j = 0; j < kEach; ++j) {
      const unsigned word = words[j * 4 / kEach];
      const unsigned bits = sizeof(Key) == 4 ? word : word >> (16 * (j % 2)) & 0xffffU;
      const int last = M == Mistake::no_tail_mask ? length - length % kEach + kEach : length;
      const bool real = !Guarded || unit * kEach + j < last;
      const unsigned key = real ? ordered_key<Format>(bits) : 0U;
      keys.keys[j] = static_cast<Key>(key);
      if (real) atomic_add_shared(s.histogram + (key >> (Format::kBits - kDigitBits)), 1);
    }
    reinterpret_cast<KeyUnit<Key>*>(s.keys)[unit] = keys;
  }
}

// One row: whole rounds of the block, then the rest unit by unit.
template <class Format, Mistake M, class Id>
__device__ __forceinline__ void load_scores(const typename Format::Score* scores, int length,
                                            const Selection<typename Format::Key, Id>& s) {
  constexpr int kEach = kKeysPerUnit<typename Format::Key>;
  constexpr int kRound = kTopkThreads * kTopkLoads;
  const auto* units = reinterpret_cast<const uint4*>(scores);
  const int whole = length / (kRound * kEach) * kRound;
  const int thread = static_cast<int>(threadIdx.x);
  TS_NO_UNROLL
  for (int first = thread; first < whole; first += kRound) {
    load_units<Format, kTopkLoads, false, M>(units, first, length, s);
  }
  TS_NO_UNROLL
  for (int unit = whole + thread; unit < s.padded / kEach; unit += kTopkThreads) {
    load_units<Format, 1, true, M>(units, unit, length, s);
  }
}

template <class Format, class Id, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kTopkThreads, 6)
    topk(const typename Format::Score* scores, const int* lengths, int rows_per_length,
         int capacity, int k, Id* ids) {
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  const int length = load(lengths + static_cast<int>(blockIdx.x) / rows_per_length);
  if (length <= k) {
    store_all_ids<kTopkThreads>(length, k, ids + row * k);
    return;
  }
  const Selection<typename Format::Key, Id> s(capacity, length, k);
  clear_histogram<kTopkThreads>(s.histogram);
  __syncthreads();
  load_scores<Format, M>(scores + row * capacity, length, s);
  if constexpr (M != Mistake::no_barrier_after_scores) __syncthreads();
  Threshold threshold = find_threshold<Format::kBits, kTopkThreads>(s, k);
  if constexpr (M == Mistake::equals_not_counted) threshold.equals = 0xffffU;
  stage_ids<kTopkThreads>(s, threshold);
  __syncthreads();
  store_ids<kTopkThreads>(s.staged, k, ids + row * k);
}

}  // namespace tiersim::kernels
