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
// The choice is made among candidates in shared memory. A row of at most 4 kTopkLongRoom (24576)
// scores is held there whole. Of a longer one, of up to 262144 scores and for k up to 2560:
//  - 8192 scores, in pairs of units of 16 B spread evenly, give an estimate of a key that some more
//    than k scores reach: the key of rank 1.25 s + 4 sqrt(s) among them, where s = 8192 k / length
//    of them are expected among the k largest. (160 + 45 at k = 2048 of 131072.)
//  - One read of the row pushes every unit that has such a score to the candidates, in any order.
//    One comparison with the largest of four scores decides, and a warp takes its places by one
//    atomic for four units a lane.
//  - Radix search as in select.cuh finds the k-th largest key among them, by digits of the distance
//    from the least candidate: they spread over the bins where all scores share their upper bits,
//    and crowd few of them only where some candidates are far above the others.
//  - A bit for each chosen index is set, first for the keys equal to the threshold where only some
//    of those are chosen. The bits before an index give its place, so that the order of pushes
//    leaves no trace.
// Where the estimate misleads (fewer than k candidates, or more units than kTopkLongRoom, as among
// many equal scores), and for rows and k beyond the limits, the row is read for each digit of 11,
// 11 and 10 bits, and once more for the choice in order.
//
// So a row is read once up to 24576 scores, once and 32 KB more where it is sampled, four times by
// digits, and five times and 32 KB where the estimate misleads: from HBM once, where L2 holds it.
//
// 16 B loads, four of them a thread in flight: 64 KB a block (32 KB in reads by digits), one block
// an SM. Shared memory: 144 KB for k = 2048 of 131072. Limiter: one SM a row. A read of 131072
// scores is 512 KB, 8192 clocks at 64 B a clock from L2; it asks for some 100 warp instructions for
// four units a lane, 25600 in all, 6400 clocks. The sample, the search and the indices are bound by
// the latency of some 20 barriers. By these counts 12 us a row of 131072; an H200 takes 24, and 28
// for 64 rows at once.
#pragma once
#include "kernels/device/mistakes.hpp"
#include "kernels/device/topk.cuh"
#include "kernels/device/topk_long_keys.cuh"
#include "kernels/device/topk_long_work.hpp"

namespace tiersim::kernels {

// The block of one row.
template <Mistake M>
class TopkLong {
  static constexpr int kThreads = kTopkLongThreads;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kLoads = kTopkLongLoads;
  static constexpr int kDigitLoads = 2;
  static constexpr int kChunk = kThreads * kDigitLoads;  // units that a block chooses from at once
  static constexpr int kNever = -1;                      // slack of a search that reads all digits
  static constexpr unsigned kInfinityKey = 0x007fffffU;  // of -inf; only NaN's is below
  using Unit = KeyUnit<std::uint32_t>;
  static_assert(kWarps == kWarp);  // a lane has the total of a warp

 public:
  __device__ __forceinline__ TopkLong(const float* scores, int length, int capacity, int k)
      : scores_(reinterpret_cast<const uint4*>(scores)),
        length_(length),
        units_((length + 3) / 4),
        k_(k),
        layout_(topk_long_layout(capacity, k)) {}

  __device__ __forceinline__ static int* staged() {
    return shared_memory<int>(TopkLongLayout::kScratch);
  }

  // Fills shared memory with candidates, which are all keys of the row that are at least the least
  // of them. False where fewer than k were found, more than there is room for, or none were sought.
  __device__ __forceinline__ bool gather() {
    const TopkLongWay way = topk_long_way(length_, k_);
    if (way == TopkLongWay::digits) return false;
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < words(); i += kThreads) bits()[i] = 0;
    if (thread == 0) {
      *shared_memory<int>(TopkLongLayout::kCount) = 0;
      *shared_memory<int>(TopkLongLayout::kLastTie) = length_;
    }
    KeyRange range;
    if (way == TopkLongWay::held) {
      hold_all(range);
    } else {
      const unsigned least = estimate();  // has barriers
      push_above(score_of(least));
      __syncthreads();
      held_ = *shared_memory<int>(TopkLongLayout::kCount);
      if (held_ > kTopkLongRoom) return false;
      hold_pushed(least, range);
    }
    range_ = over_block(range);
    return range_.count >= static_cast<unsigned>(k_);
  }

  // The k-th largest key, and how many of those equal to it are among the k; none where no choice
  // among equal keys remains, and then the k largest are above the key.
  __device__ __forceinline__ Threshold find_among_candidates() const {
    const unsigned low = range_.low;
    return search(low, range_.bits(), static_cast<unsigned>(k_), 0,
                  [&](unsigned prefix, int shift, int width, bool whole) {
                    each_candidate([&](const Unit& unit, int) {
                      count_unit(unit, low, prefix, shift, width, whole);
                    });
                  });
  }
  // All digits, so that the bytes read depend on lengths alone.
  __device__ __forceinline__ Threshold find_by_digits() const {
    return search(0, Float32::kBits, static_cast<unsigned>(k_), kNever,
                  [&](unsigned prefix, int shift, int width, bool whole) {
                    count_row(prefix, shift, width, whole);
                  });
  }

  // Stages the indices of candidates in ascending order; a barrier must follow.
  __device__ __forceinline__ void choose_candidates(const Threshold& t) const {
    int* last_tie = shared_memory<int>(TopkLongLayout::kLastTie);
    int last = -1;
    if (t.equals != 0) {
      mark([&](unsigned key, int) { return key == t.key; });
      __syncthreads();
      each_marked([&](unsigned place, int token) {
        if (place + 1 == t.equals) *last_tie = token;
      });
      __syncthreads();
      last = *last_tie;
      for (int i = static_cast<int>(threadIdx.x); i < words(); i += kThreads) bits()[i] = 0;
      __syncthreads();
    }
    mark([&](unsigned key, int token) { return key > t.key || (key == t.key && token <= last); });
    __syncthreads();
    each_marked([&](unsigned place, int token) { staged()[place] = token; });
  }

  // The same from the row; at most t.equals of the keys that are equal.
  __device__ __forceinline__ void choose_by_digits(const Threshold& t) const {
    unsigned before = 0;  // keys above the threshold, and keys equal to it in the upper half
    int turn = 0;
    TS_NO_UNROLL
    for (int chunk = 0; chunk < units_; chunk += kChunk, turn = 1 - turn) {
      const int first = chunk + warp_index() * kWarp * kDigitLoads + lane_index();
      Unit units[std::size_t{kDigitLoads}];
      load<kDigitLoads>(units, first, kWarp);
      unsigned places[std::size_t{kDigitLoads}];
      unsigned sum = 0;
      TS_UNROLL
      for (int i = 0; i < kDigitLoads; ++i) {
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
      for (int i = 0; i < kDigitLoads; ++i) {
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
  __device__ __forceinline__ static Unit* candidates() {
    return shared_memory<Unit>(TopkLongLayout::kUnits);
  }
  __device__ __forceinline__ int* tokens() const { return shared_memory<int>(layout_.tokens); }
  __device__ __forceinline__ int* bits() const { return shared_memory<int>(layout_.bits); }
  __device__ __forceinline__ int words() const { return (length_ + 31) / 32; }

  // Keys of a unit; 0 for no score.
  __device__ __forceinline__ Unit keys_of(const uint4& scores, int token) const {
    const unsigned words[4] = {scores.x, scores.y, scores.z, scores.w};
    const int end = M == Mistake::no_tail_mask ? 4 * units_ : length_;
    Unit unit;
    TS_UNROLL
    for (int j = 0; j < 4; ++j) {
      unit.keys[j] = token + j < end ? ordered_key<Float32>(words[j]) : 0U;
    }
    return unit;
  }

  // Reads units first, first + stride, ...
  template <int Loads>
  __device__ __forceinline__ void load(Unit (&units)[std::size_t{Loads}], int first,
                                       int stride) const {
    uint4 loaded[std::size_t{Loads}];
    TS_UNROLL
    for (int i = 0; i < Loads; ++i) {
      const int unit = first + i * stride;
      loaded[i] = unit < units_ ? load_streaming(scores_ + unit) : make_uint4(0, 0, 0, 0);
    }
    TS_UNROLL
    for (int i = 0; i < Loads; ++i) units[i] = keys_of(loaded[i], 4 * (first + i * stride));
  }

  // The whole block calls it. The caller needs a barrier before it writes totals again.
  __device__ __forceinline__ static KeyRange over_block(KeyRange range) {
    TS_UNROLL
    for (int round = 0; round < 2; ++round) {
      range.low = ~warp_max_of(~range.low);
      range.high = warp_max_of(range.high);
      range.count = warp_sum_of(range.count);
      if (round == 1) break;
      if (lane_index() == 0) {
        totals(0)[warp_index()] = range.low;
        totals(1)[warp_index()] = range.high;
        totals(2)[warp_index()] = range.count;
      }
      __syncthreads();
      range.low = totals(0)[lane_index()];
      range.high = totals(1)[lane_index()];
      range.count = totals(2)[lane_index()];
    }
    return range;
  }

  // Radix search for the need-th largest of keys in low, low + 1, ..., low + 2^bits - 1. count adds
  // their digits to the histogram. It ends early where at most `slack` keys too many are in the bin
  // that it has found.
  template <class Count>
  __device__ __forceinline__ Threshold search(unsigned low, int bits, unsigned need, int slack,
                                              Count count) const {
    int* histogram = staged();
    int* found = shared_memory<int>(TopkLongLayout::kFound);
    unsigned prefix = 0;
    int shift = bits;
    TS_NO_UNROLL
    while (shift > 0) {
      const int width = min(shift, kDigitBits);
      shift -= width;
      clear_histogram<kThreads>(histogram);
      __syncthreads();
      count(prefix, shift, width, shift + width == bits);
      if constexpr (M != Mistake::no_barrier_after_scores) __syncthreads();
      find_bin<kThreads>(histogram, totals(0), found, static_cast<int>(need));
      prefix = prefix << width | static_cast<unsigned>(found[0]);
      need -= static_cast<unsigned>(found[1]);
      if (found[2] - static_cast<int>(need) <= slack) return {low + (prefix << shift) - 1, 0};
    }
    return {low + prefix, need};
  }

  // Counts the digit of `width` bits at `shift` of keys that begin with the prefix.
  __device__ __forceinline__ static void count_unit(const Unit& unit, unsigned low, unsigned prefix,
                                                    int shift, int width, bool whole) {
    const unsigned digits = (1U << width) - 1U;
    TS_UNROLL
    for (int j = 0; j < 4; ++j) {
      const unsigned key = unit.keys[j] - low;
      if (unit.keys[j] != 0 && (whole || key >> (shift + width) == prefix)) {
        atomic_add_shared(staged() + (key >> shift & digits), 1);
      }
    }
  }
  __device__ __forceinline__ void count_row(unsigned prefix, int shift, int width,
                                            bool whole) const {
    TS_NO_UNROLL
    for (int first = static_cast<int>(threadIdx.x); first < units_; first += kChunk) {
      Unit units[std::size_t{kDigitLoads}];
      load<kDigitLoads>(units, first, kThreads);
      TS_UNROLL
      for (int i = 0; i < kDigitLoads; ++i) count_unit(units[i], 0, prefix, shift, width, whole);
    }
  }

  // A key that some more than k keys of the row should reach, by pairs of units spread evenly.
  __device__ __forceinline__ unsigned estimate() const {
    constexpr int kEach = kTopkLongSample / kThreads;
    Unit units[std::size_t{kEach}];
    uint4 loaded[std::size_t{kEach}];
    int at[std::size_t{kEach}];
    TS_UNROLL
    for (int i = 0; i < kEach; ++i) {
      const int sample = static_cast<int>(threadIdx.x) + i * kThreads;
      at[i] = sample / 2 * (units_ / 2) / (kTopkLongSample / 2) * 2 + sample % 2;
      loaded[i] = load_streaming(scores_ + at[i]);
    }
    KeyRange range;
    TS_UNROLL
    for (int i = 0; i < kEach; ++i) {
      units[i] = keys_of(loaded[i], 4 * at[i]);
      TS_UNROLL
      for (int j = 0; j < 4; ++j) range.add(units[i].keys[j]);
    }
    range = over_block(range);
    const float share =
        static_cast<float>(k_) * (4.0F * kTopkLongSample) / static_cast<float>(length_);
    const auto rank = static_cast<int>(1.25F * share + 4.0F * sqrtf(share)) + 1;
    const Threshold t = search(range.low, range.bits(), static_cast<unsigned>(rank), rank / 8,
                               [&](unsigned prefix, int shift, int width, bool whole) {
                                 TS_UNROLL
                                 for (int i = 0; i < kEach; ++i) {
                                   count_unit(units[i], range.low, prefix, shift, width, whole);
                                 }
                               });
    return max(t.equals == 0 ? t.key + 1 : t.key, kInfinityKey);
  }

  // Pushes the units that hold a score of at least `least`. Whole rounds of the block, then the
  // rest.
  __device__ __forceinline__ void push_above(float least) const {
    constexpr int kRound = kThreads * kLoads;
    const int whole = units_ / kRound * kRound;
    TS_NO_UNROLL
    for (int chunk = 0; chunk < whole; chunk += kRound) push_round<false>(chunk, least);
    if (whole < units_) push_round<true>(whole, least);
  }
  template <bool Guarded>
  __device__ __forceinline__ void push_round(int chunk, float least) const {
    const int first = chunk + static_cast<int>(threadIdx.x);
    const unsigned lower = (1U << lane_index()) - 1U;
    uint4 loaded[std::size_t{kLoads}];
    TS_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int unit = first + i * kThreads;
      if (!Guarded || unit < units_) {
        loaded[i] = load_streaming(scores_ + unit);
      } else {
        loaded[i] = make_uint4(~0U, ~0U, ~0U, ~0U);  // NaN
      }
    }
    bool reaches[std::size_t{kLoads}];
    int places[std::size_t{kLoads}];
    int sum = 0;
    TS_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const float most = fmaxf(fmaxf(__uint_as_float(loaded[i].x), __uint_as_float(loaded[i].y)),
                               fmaxf(__uint_as_float(loaded[i].z), __uint_as_float(loaded[i].w)));
      reaches[i] = most >= least;
      const unsigned lanes = __ballot_sync(kAllLanes, reaches[i]);
      places[i] = sum + __popc(lanes & lower);
      sum += __popc(lanes);
    }
    if (sum == 0) return;
    int start = 0;
    if (lane_index() == 0) {
      start = atomic_add_shared(shared_memory<int>(TopkLongLayout::kCount), sum);
    }
    start = __shfl_sync(kAllLanes, start, 0);
    TS_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int place = start + places[i];
      if (reaches[i] && place < kTopkLongRoom) {
        reinterpret_cast<uint4*>(candidates())[place] = loaded[i];
        tokens()[place] = 4 * (first + i * kThreads);
      }
    }
  }

  // Makes keys of the units that were pushed, 0 of scores below the least.
  __device__ __forceinline__ void hold_pushed(unsigned least, KeyRange& range) const {
    TS_NO_UNROLL
    for (int i = static_cast<int>(threadIdx.x); i < held_; i += kThreads) {
      Unit unit = keys_of(reinterpret_cast<const uint4*>(candidates())[i], tokens()[i]);
      TS_UNROLL
      for (int j = 0; j < 4; ++j) {
        if (unit.keys[j] < least) unit.keys[j] = 0;
        range.add(unit.keys[j]);
      }
      candidates()[i] = unit;
    }
  }
  // Makes candidates of all units of the row.
  __device__ __forceinline__ void hold_all(KeyRange& range) {
    held_ = units_;
    TS_NO_UNROLL
    for (int first = static_cast<int>(threadIdx.x); first < units_; first += kThreads * kLoads) {
      Unit units[std::size_t{kLoads}];
      load<kLoads>(units, first, kThreads);
      TS_UNROLL
      for (int i = 0; i < kLoads; ++i) {
        const int unit = first + i * kThreads;
        TS_UNROLL
        for (int j = 0; j < 4; ++j) range.add(units[i].keys[j]);
        if (unit < units_) {
          candidates()[unit] = units[i];
          tokens()[unit] = 4 * unit;
        }
      }
    }
  }

  // Calls visit(unit, its first token) for the thread's own units, the same ones each time.
  template <class Visit>
  __device__ __forceinline__ void each_candidate(Visit visit) const {
    TS_NO_UNROLL
    for (int i = static_cast<int>(threadIdx.x); i < held_; i += kThreads) {
      const Unit unit = candidates()[i];
      visit(unit, tokens()[i]);
    }
  }

  // Sets the bits of candidates. Each is set once, so that sums are unions.
  template <class Chosen>
  __device__ __forceinline__ void mark(Chosen chosen) const {
    each_candidate([&](const Unit& unit, int token) {
      unsigned mask = 0;
      TS_UNROLL
      for (int j = 0; j < 4; ++j) {
        const unsigned key = unit.keys[j];
        mask |= key != 0 && chosen(key, token + j) ? 1U << j : 0U;
      }
      if (mask != 0) atomic_add_shared(bits() + token / 32, static_cast<int>(mask << token % 32));
    });
  }

  // Calls visit(place, token) for every bit that is set, places ascending by token.
  template <class Visit>
  __device__ __forceinline__ void each_marked(Visit visit) const {
    const int steps = (words() + kWarp - 1) / kWarp;
    const int each = (steps + kWarps - 1) / kWarps;
    const int first = warp_index() * each;
    const int last = min(first + each, steps);
    const auto word = [&](int step) {
      const int at = step * kWarp + lane_index();
      return at < words() ? static_cast<unsigned>(bits()[at]) : 0U;
    };
    unsigned mine = 0;
    TS_NO_UNROLL
    for (int step = first; step < last; ++step) mine += static_cast<unsigned>(__popc(word(step)));
    mine = warp_sum_of(mine);
    if (lane_index() == 0) totals(0)[warp_index()] = mine;
    __syncthreads();
    unsigned before = sum_of_warps_before<kThreads>(totals(0));
    TS_NO_UNROLL
    for (int step = first; step < last; ++step) {
      unsigned set = word(step);
      const auto count = static_cast<unsigned>(__popc(set));
      const unsigned through = warp_sum_through(count);
      unsigned place = before + through - count;
      before += __shfl_sync(kAllLanes, through, kWarp - 1);
      for (; set != 0; set &= set - 1U, ++place) {
        visit(place, (step * kWarp + lane_index()) * 32 + __ffs(static_cast<int>(set)) - 1);
      }
    }
  }

  const uint4* scores_;
  int length_;
  int units_;
  int k_;
  TopkLongLayout layout_;
  int held_ = 0;    // units of candidates
  KeyRange range_;  // of candidates
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
  TopkLong<M> block(scores + row * capacity, length, capacity, k);
  const bool gathered = block.gather();
  Threshold threshold = gathered ? block.find_among_candidates() : block.find_by_digits();
  if constexpr (M == Mistake::equals_not_counted) threshold.equals = 0x7fffU;
  if (gathered) {
    block.choose_candidates(threshold);
  } else {
    block.choose_by_digits(threshold);
  }
  __syncthreads();
  store_ids<kTopkLongThreads>(block.staged(), k, ids + row * k);
}

}  // namespace tiersim::kernels
