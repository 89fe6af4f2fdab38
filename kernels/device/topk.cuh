// The k largest scores of each row, exactly: their indices in ascending order, of equal scores the
// lowest. One block a row; see select.cuh for the method.
//
//   scores  [rows][capacity]  Format's numbers (float, or the bits of fp16 or bf16); capacity a
//           multiple of 8. The numbers behind a row's length are read up to the next 16 B, and
//           ignored.
//   lengths [rows / rows_per_length]  int32, <= capacity <= 65535
//   ids     [rows][k]  Id; kNoId behind the last where length < k (then no score is read)
//
// Order: -0 equals 0; every NaN ranks below -inf, and equals every other NaN.
// Launch: grid rows, block kTopkThreads, shared memory topk_layout().bytes.
//
// 16 B loads, four of them a thread in flight: 16 KB a block, five blocks an SM at 8192 fp32 scores
// (eight at 16 bits). Limiter: not HBM at these sizes but instructions on the keys in shared memory
// (about 8000 warp instructions a row of 8192 against 1.3 us an SM has at the floor).
#pragma once
#include "kernels/device/mistakes.hpp"
#include "kernels/device/select.cuh"
#include "kernels/device/topk_work.hpp"

namespace tiersim::kernels {

// Bits of a number of Format as a key: larger numbers have larger keys, none has 0.
template <class Format>
__device__ __forceinline__ unsigned ordered_key(unsigned bits) {
  constexpr unsigned kSign = 1U << (Format::kBits - 1);
  constexpr unsigned kAll = kSign | (kSign - 1);
  if ((bits & ~kSign & kAll) > Format::kInfinity) return 1;
  if (bits == kSign) return kSign;  // -0
  return (bits & kSign) != 0 ? ~bits & kAll : bits | kSign;
}

// One row into shared memory as keys, with the first histogram.
template <class Format, Mistake M, class Id>
__device__ __forceinline__ void load_scores(const typename Format::Score* scores, int length,
                                            const Selection<typename Format::Key, Id>& s) {
  using Key = typename Format::Key;
  constexpr int kEach = kKeysPerUnit<Key>;
  const int units = (length + kEach - 1) / kEach;
  for (int first = static_cast<int>(threadIdx.x); first < s.padded / kEach;
       first += kTopkThreads * kTopkLoads) {
    uint4 loaded[kTopkLoads];
    TS_UNROLL
    for (int i = 0; i < kTopkLoads; ++i) {
      const int unit = first + i * kTopkThreads;
      loaded[i] = make_uint4(0, 0, 0, 0);
      if (unit < units) loaded[i] = load_streaming(reinterpret_cast<const uint4*>(scores) + unit);
    }
    TS_UNROLL
    for (int i = 0; i < kTopkLoads; ++i) {
      const int unit = first + i * kTopkThreads;
      const unsigned words[4] = {loaded[i].x, loaded[i].y, loaded[i].z, loaded[i].w};
      KeyUnit<Key> keys;
      TS_UNROLL
      for (int j = 0; j < kEach; ++j) {
        const unsigned word = words[j * 4 / kEach];
        const unsigned bits = sizeof(Key) == 4 ? word : word >> (16 * (j % 2)) & 0xffffU;
        const bool real = unit * kEach + j < length || (M == Mistake::no_tail_mask && unit < units);
        const unsigned key = real ? ordered_key<Format>(bits) : 0U;
        keys.keys[j] = static_cast<Key>(key);
        if (real) atomic_add_shared(s.histogram + (key >> (Format::kBits - kDigitBits)), 1);
      }
      if (unit < s.padded / kEach) reinterpret_cast<KeyUnit<Key>*>(s.keys)[unit] = keys;
    }
  }
}

template <class Format, class Id, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kTopkThreads)
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
