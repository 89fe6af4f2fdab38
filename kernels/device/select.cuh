// Exact selection of the k largest of the keys that a block holds in shared memory, by radix. A
// histogram of the top 11 bits finds the bin of the k-th largest key, a histogram of the next 11
// bits refines that bin, and so on. Then one ordered pass writes the indices. The result is
// deterministic: indices ascend, and of equal keys the lowest indices win.
// (Radix select: Alabi, Blanchard, Gordon, Steinbach, "Fast k-selection algorithms for graphics
// processing units", 2012.)
//
// Keys are unsigned, 16 or 32 bits; 0 means "no key here" and is never selected. The caller fills
// keys and the first histogram, so that these need no extra pass.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

template <class Key>
struct alignas(16) KeyUnit {
  Key keys[kKeysPerUnit<Key>];
};

// Shared memory of a selection. The ids staged for coalesced stores overlay the histogram.
template <class Key, class Id>
struct Selection {
  Key* keys;         // padded to whole steps
  int* histogram;    // kBins
  Id* staged;        // k
  unsigned* totals;  // one for each warp
  int* found;        // bin, keys above it, keys in it
  int padded;        // keys, padding included

  __device__ __forceinline__ Selection(int capacity, int length, int k) {
    const std::size_t scratch = select_layout<Key, Id>(capacity, k).scratch;
    keys = shared_memory<Key>(SelectLayout::kKeys);
    histogram = shared_memory<int>(scratch);
    staged = shared_memory<Id>(scratch);
    totals = shared_memory<unsigned>(SelectLayout::kTotals);
    found = shared_memory<int>(SelectLayout::kFound);
    padded = round_up(length, kKeysPerStep<Key>);
  }
};

__device__ __forceinline__ unsigned warp_sum_of(unsigned value) {
  TS_UNROLL
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}
// Lane l gets the sum over lanes 0..l.
__device__ __forceinline__ unsigned warp_sum_through(unsigned value) {
  TS_UNROLL
  for (int step = 1; step < kWarp; step *= 2) {
    const unsigned lower = __shfl_up_sync(kAllLanes, value, step);
    if (lane_index() >= step) value += lower;
  }
  return value;
}

// Sum over the previous warps. All loads are issued at once, since a loop would wait for each.
template <int Threads>
__device__ __forceinline__ unsigned sum_of_warps_before(const unsigned* totals) {
  unsigned sum = 0;
  TS_UNROLL
  for (int warp = 0; warp < Threads / kWarp; ++warp) {
    const unsigned total = totals[warp];
    sum += warp < warp_index() ? total : 0U;
  }
  return sum;
}

// The whole block calls it; a barrier must follow.
template <int Threads>
__device__ __forceinline__ void clear_histogram(int* histogram) {
  TS_UNROLL
  for (int i = 0; i < kBins / 4; i += Threads) {
    const int unit = i + static_cast<int>(threadIdx.x);
    if (unit < kBins / 4) reinterpret_cast<int4*>(histogram)[unit] = make_int4(0, 0, 0, 0);
  }
}

// Writes found: the bin of the need-th largest key. The caller needs a barrier before it, after
// counting, and none after it.
template <int Threads>
__device__ __forceinline__ void find_bin(const int* histogram, unsigned* totals, int* found,
                                         int need) {
  constexpr int kOwn = kBins / Threads < 4 ? 4 : kBins / Threads;  // bins of a thread
  constexpr int kOwners = kBins / kOwn;                            // thread 0 has the highest
  static_assert(kOwn % 4 == 0);
  const int first = kBins - (static_cast<int>(threadIdx.x) + 1) * kOwn;
  int counts[std::size_t{kOwn}];
  int sum = 0;
  TS_UNROLL
  for (int i = 0; i < kOwn; i += 4) {
    int4 four = make_int4(0, 0, 0, 0);
    if (kOwners == Threads || first >= 0) {
      four = *reinterpret_cast<const int4*>(histogram + first + i);
    }
    counts[i] = four.x;
    counts[i + 1] = four.y;
    counts[i + 2] = four.z;
    counts[i + 3] = four.w;
    sum += four.x + four.y + four.z + four.w;
  }
  int through = static_cast<int>(warp_sum_through(static_cast<unsigned>(sum)));
  if (lane_index() == kWarp - 1) totals[warp_index()] = static_cast<unsigned>(through);
  __syncthreads();
  through += static_cast<int>(sum_of_warps_before<Threads>(totals));
  int above = through - sum;
  if (above < need && need <= through) {
    TS_UNROLL
    for (int i = kOwn - 1; i >= 0; --i) {
      if (above < need && need <= above + counts[i]) {
        found[0] = first + i;
        found[1] = above;
        found[2] = counts[i];
      }
      above += counts[i];
    }
  }
  __syncthreads();
}

// Selects the keys above `key`, and the first `equals` of those equal to it.
struct Threshold {
  unsigned key;
  unsigned equals;
};

// k: below the number of keys, at least 1. The histogram must hold the top 11 of KeyBits bits of
// every key, with a barrier since.
template <int KeyBits, int Threads, class Key, class Id>
__device__ __forceinline__ Threshold find_threshold(const Selection<Key, Id>& s, int k) {
  int shift = KeyBits - kDigitBits;
  int width = kDigitBits;
  int need = k;
  unsigned prefix = 0;
  while (true) {
    find_bin<Threads>(s.histogram, s.totals, s.found, need);
    prefix = prefix << width | static_cast<unsigned>(s.found[0]);
    need -= s.found[1];
    // The whole bin is selected, so its keys need no refinement. (Its keys are above 0.)
    if (s.found[2] == need) return {(prefix << shift) - 1, 0};
    if (shift == 0) return {prefix, static_cast<unsigned>(need)};
    width = min(shift, kDigitBits);
    shift -= width;
    clear_histogram<Threads>(s.histogram);
    __syncthreads();
    const unsigned low_bits = (1U << width) - 1;
    for (int i = static_cast<int>(threadIdx.x) * kKeysPerUnit<Key>; i < s.padded;
         i += Threads * kKeysPerUnit<Key>) {
      const auto unit = *reinterpret_cast<const KeyUnit<Key>*>(s.keys + i);
      TS_UNROLL
      for (int j = 0; j < kKeysPerUnit<Key>; ++j) {
        const unsigned key = unit.keys[j];
        if (key != 0 && key >> (shift + width) == prefix) {
          atomic_add_shared(s.histogram + (key >> shift & low_bits), 1);
        }
      }
    }
    __syncthreads();
  }
}

// A count in the lower half for a key above the threshold; with Ties, a count in the upper half for
// a key equal to it.
template <bool Ties>
__device__ __forceinline__ unsigned compared(unsigned key, const Threshold& t) {
  return (key > t.key ? 1U : 0U) + (Ties && key == t.key ? 0x10000U : 0U);
}
template <bool Ties, class Key>
__device__ __forceinline__ unsigned compared(const KeyUnit<Key>& unit, const Threshold& t) {
  unsigned sum = 0;
  TS_UNROLL
  for (int j = 0; j < kKeysPerUnit<Key>; ++j) sum += compared<Ties>(unit.keys[j], t);
  return sum;
}

// Writes the selected keys of one unit; at: counts of the keys before it.
template <bool Ties, class Key, class Id>
__device__ __forceinline__ void stage_unit(const KeyUnit<Key>& unit, int token, unsigned at,
                                           const Threshold& t, Id* staged) {
  TS_UNROLL
  for (int j = 0; j < kKeysPerUnit<Key>; ++j) {
    const unsigned key = unit.keys[j];
    const unsigned equals = Ties ? min(at >> 16, t.equals) : 0U;
    if (key > t.key || (Ties && key == t.key && at >> 16 < t.equals)) {
      staged[(Ties ? at & 0xffffU : at) + equals] = static_cast<Id>(token + j);
    }
    at += compared<Ties>(key, t);
  }
}

// Stages the selected indices in ascending order; a barrier must follow. Ties: some, but not all,
// of the keys equal to the threshold are selected.
template <int Threads, bool Ties, class Key, class Id>
__device__ __forceinline__ void stage_in_order(const Selection<Key, Id>& s, const Threshold& t) {
  constexpr int kWarps = Threads / kWarp;
  const int steps = s.padded / kKeysPerStep<Key>;
  const int each = (steps + kWarps - 1) / kWarps;
  const int first = warp_index() * each;
  const int last = min(first + each, steps);
  const auto* units = reinterpret_cast<const KeyUnit<Key>*>(s.keys) + lane_index();
  unsigned mine = 0;
  for (int step = first; step < last; ++step) mine += compared<Ties>(units[step * kWarp], t);
  mine = warp_sum_of(mine);
  if (lane_index() == 0) s.totals[warp_index()] = mine;
  __syncthreads();
  unsigned before = sum_of_warps_before<Threads>(s.totals);
  TS_NO_UNROLL
  for (int step = first; step < last; ++step) {
    const KeyUnit<Key> unit = units[step * kWarp];
    const unsigned count = compared<Ties>(unit, t);
    const unsigned through = warp_sum_through(count);
    const int token = (step * kWarp + lane_index()) * kKeysPerUnit<Key>;
    stage_unit<Ties>(unit, token, before + through - count, t, s.staged);
    before += __shfl_sync(kAllLanes, through, kWarp - 1);
  }
}
template <int Threads, class Key, class Id>
__device__ __forceinline__ void stage_ids(const Selection<Key, Id>& s, const Threshold& t) {
  if (t.equals == 0) {
    stage_in_order<Threads, false>(s, t);
  } else {
    stage_in_order<Threads, true>(s, t);
  }
}

// Staged indices to global memory, 16 bytes a thread where rows are aligned to them.
template <int Threads, class Id>
__device__ __forceinline__ void store_ids(const Id* staged, int k, Id* ids) {
  constexpr int kIdsPerUnit = 16 / static_cast<int>(sizeof(Id));
  if (k % kIdsPerUnit == 0) {
    for (int i = static_cast<int>(threadIdx.x); i < k / kIdsPerUnit; i += Threads) {
      store(reinterpret_cast<uint4*>(ids) + i, reinterpret_cast<const uint4*>(staged)[i]);
    }
  } else {
    for (int i = static_cast<int>(threadIdx.x); i < k; i += Threads) store(ids + i, staged[i]);
  }
}

// All indices below length, then "no index": the result where k is at least the number of keys.
template <int Threads, class Id>
__device__ __forceinline__ void store_all_ids(int length, int k, Id* ids) {
  for (int i = static_cast<int>(threadIdx.x); i < k; i += Threads) {
    store(ids + i, i < length ? static_cast<Id>(i) : kNoId<Id>);
  }
}

}  // namespace tiersim::kernels
