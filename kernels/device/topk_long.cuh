// The k largest of each row of fp32 scores, exactly, for rows of any length: topk keeps the keys of
// a row in shared memory, which 55936 scores fill. The result is the same: indices ascend, of equal
// scores the lowest indices win, -0 equals 0, and every NaN ranks below -inf and equals every
// other.
//
//   scores  [rows][capacity]  fp32; capacity a multiple of 4. The numbers behind a row's length are
//                             read up to the next 16 B, and ignored.
//   lengths [rows]            int32
//   ids     [rows][k]         int32; -1 behind the last where length < k (then no score is read)
//
// Launch: grid rows, block kTopkLongThreads, topk_long_shared_bytes(). k <= kTopkLongMost.
//
// Radix select as in select.cuh, with the row read again, from L2, for each digit of 11, 11 and 10
// bits and once more for the choice in order. Four reads whatever the scores are, so that the time
// hardly depends on them: only on how often lanes of a warp count in one bin.
//
// Limiter: one SM a row. A read of 131072 scores is 512 KB, 8192 clocks at 64 B a clock from L2;
// keys and comparisons are some 12 instructions a score, 12300 clocks. Estimate: 45 us a row of
// 131072 on an H200, and as many rows at once as there are SMs.
#pragma once
#include "kernels/device/mistakes.hpp"
#include "kernels/device/topk.cuh"
#include "kernels/device/topk_long_work.hpp"

namespace tiersim::kernels {

// The block of one row.
template <Mistake M>
class TopkLong {
  static constexpr int kThreads = kTopkLongThreads;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kChunk =
      kThreads * kTopkLongLoads;  // units of 16 B that a block has at once
  using Unit = KeyUnit<std::uint32_t>;

 public:
  __device__ __forceinline__ TopkLong(const float* scores, int length)
      : scores_(reinterpret_cast<const uint4*>(scores)),
        length_(length),
        units_((length + 3) / 4) {}

  __device__ __forceinline__ static int* staged() {
    return shared_memory<int>(TopkLongLayout::kScratch);
  }

  // The k-th largest key, and how many of those equal to it are among the k.
  __device__ __forceinline__ Threshold find(int k) const {
    int* histogram = staged();
    int* found = shared_memory<int>(TopkLongLayout::kFound);
    Threshold threshold{0, static_cast<unsigned>(k)};
    int shift = Float32::kBits;
    while (shift > 0) {
      const int width = min(shift, kDigitBits);
      shift -= width;
      clear_histogram<kThreads>(histogram);
      __syncthreads();
      count(threshold.key, shift, width);
      if constexpr (M != Mistake::no_barrier_after_scores) __syncthreads();
      find_bin<kThreads>(histogram, totals(0), found, static_cast<int>(threshold.equals));
      threshold.key = threshold.key << width | static_cast<unsigned>(found[0]);
      threshold.equals -= static_cast<unsigned>(found[1]);
    }
    return threshold;
  }

  // Stages the indices in ascending order; a barrier must follow.
  __device__ __forceinline__ void choose(const Threshold& t) const {
    unsigned before = 0;  // keys above the threshold, and keys equal to it in the upper half
    int turn = 0;
    for (int chunk = 0; chunk < units_; chunk += kChunk, turn = 1 - turn) {
      const int first = chunk + warp_index() * kWarp * kTopkLongLoads + lane_index();
      Unit units[std::size_t{kTopkLongLoads}];
      load(units, first, kWarp);
      unsigned places[std::size_t{kTopkLongLoads}];
      unsigned sum = 0;
      TS_UNROLL
      for (int i = 0; i < kTopkLongLoads; ++i) {
        const unsigned own = compared<true>(units[i], t);
        const unsigned through = warp_sum_through(own);
        places[i] = sum + through - own;
        sum += __shfl_sync(kAllLanes, through, kWarp - 1);
      }
      if (lane_index() == 0) totals(turn)[warp_index()] = sum;
      __syncthreads();
      unsigned all = 0;
      unsigned start = before;
      TS_UNROLL
      for (int warp = 0; warp < kWarps; ++warp) {
        const unsigned total = totals(turn)[warp];
        start += warp < warp_index() ? total : 0U;
        all += total;
      }
      TS_UNROLL
      for (int i = 0; i < kTopkLongLoads; ++i) {
        stage_unit<true>(units[i], (first + i * kWarp) * 4, start + places[i], t, staged());
      }
      before += all;
      before = min(before >> 16, t.equals) << 16 | (before & 0xffffU);
    }
  }

 private:
  __device__ __forceinline__ static unsigned* totals(int turn) {
    return shared_memory<unsigned>(TopkLongLayout::kTotals) + turn * kWarps;
  }

  // Reads units first, first + stride, ...; keys of no score are 0.
  __device__ __forceinline__ void load(Unit (&units)[std::size_t{kTopkLongLoads}], int first,
                                       int stride) const {
    uint4 loaded[std::size_t{kTopkLongLoads}];
    TS_UNROLL
    for (int i = 0; i < kTopkLongLoads; ++i) {
      const int unit = first + i * stride;
      loaded[i] = unit < units_ ? load_streaming(scores_ + unit) : make_uint4(0, 0, 0, 0);
    }
    TS_UNROLL
    for (int i = 0; i < kTopkLongLoads; ++i) {
      const unsigned words[4] = {loaded[i].x, loaded[i].y, loaded[i].z, loaded[i].w};
      const int end = M == Mistake::no_tail_mask ? 4 * units_ : length_;
      TS_UNROLL
      for (int j = 0; j < 4; ++j) {
        const bool real = 4 * (first + i * stride) + j < end;
        units[i].keys[j] = real ? ordered_key<Float32>(words[j]) : 0U;
      }
    }
  }

  // Counts the digit of `width` bits at `shift` of keys that begin with the prefix.
  __device__ __forceinline__ void count(unsigned prefix, int shift, int width) const {
    const unsigned digits = (1U << width) - 1U;
    const bool whole = shift + width == Float32::kBits;
    TS_NO_UNROLL
    for (int first = static_cast<int>(threadIdx.x); first < units_; first += kChunk) {
      Unit units[std::size_t{kTopkLongLoads}];
      load(units, first, kThreads);
      TS_UNROLL
      for (int i = 0; i < kTopkLongLoads; ++i) {
        TS_UNROLL
        for (int j = 0; j < 4; ++j) {
          const unsigned key = units[i].keys[j];
          if (key != 0 && (whole || key >> (shift + width) == prefix)) {
            atomic_add_shared(staged() + (key >> shift & digits), 1);
          }
        }
      }
    }
  }

  const uint4* scores_;
  int length_;
  int units_;
};

template <Mistake M = Mistake::none>
__global__ void __launch_bounds__(kTopkLongThreads)
    topk_long(const float* scores, const int* lengths, int capacity, int k, int* ids) {
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  const int length = load(lengths + row);
  if (length <= k) {
    store_all_ids<kTopkLongThreads>(length, k, ids + row * k);
    return;
  }
  const TopkLong<M> block(scores + row * capacity, length);
  Threshold threshold = block.find(k);
  if constexpr (M == Mistake::equals_not_counted) threshold.equals = 0x7fffU;
  block.choose(threshold);
  __syncthreads();
  store_ids<kTopkLongThreads>(block.staged(), k, ids + row * k);
}

}  // namespace tiersim::kernels
