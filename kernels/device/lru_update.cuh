// One step of the hot buffer of sparse offload: which of the chosen rows it holds, which rows leave
// it for the others, and in which slots the others will lie. The buffer of a sequence has `slots`
// rows on the device; all rows of the sequence are in host memory.
//
//   chosen  [batch][k]      int32  tokens of the step, distinct and ascending; the first
//                                  min(k, length) are taken
//   lengths [batch]         int32
//   held    [batch][slots]  int2   {token, slot}, the least recently used row first; every slot
//                                  stands once, and a free one has token -1
//   next    [batch][slots]  int2   the same after the step; may be `held` itself
//   slot_of [batch][k]      int32  slot of each chosen row, -1 past the last one
//   moves   [batch][k]      int2   {token, slot + 65536 position in the list}: rows to fetch, then
//                                  rows found; each part in the order of the list
//   misses  [batch]         int32  number of rows to fetch
//
// Replacement: LRU by steps, with the rows of the step pinned. The rows that the step did not
// choose keep their order, and the first of them are the victims: victim number i gives its slot to
// fetched row number i. Behind those that stay come the fetched rows, then the rows found, each
// part in the order of the list; so a row that was chosen again outlives one that came new, as in
// HiSparse (arXiv 2608.07009). Free slots are victims before all rows, since nobody ever used them.
//
// Launch: one block a sequence, Threads threads, lru_shared_bytes(). slots <= Each Threads, k <=
// slots, slots and k below 65536.
//
// Each thread looks up its rows in the list by bisection in shared memory; ranks come from ballots,
// so that order costs no sort and nothing depends on the order of atomics. The table is read and
// written in runs of 256 B.
//
// Limiter: latency, of one read of the table (32 KB for 4096 rows), 12 dependent reads of shared
// memory, and three barriers. Estimate: 3 us at any batch that fits the card at once.
#pragma once
#include "kernels/device/lru_update_work.hpp"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

struct LruArguments {
  const int* chosen;
  const int* lengths;
  const int2* held;
  int2* next;
  int* slot_of;
  int2* moves;
  int* misses;
  int k;
  int slots;
};

// Position of a token in an ascending list of `count` tokens, or -1.
__device__ __forceinline__ int position_of(const int* list, int count, int token) {
  int first = 0;
  for (int left = count; left > 0;) {
    const int half = left / 2;
    const bool above = list[first + half] < token;
    first = above ? first + half + 1 : first;
    left = above ? left - half - 1 : half;
  }
  return first < count && list[first] == token ? first : -1;
}

// ranks[i]: number of flags of the warp before this lane's flag i, where flags stand in the order
// [i][lane]. Returns the number of all of them.
template <std::size_t Each>
__device__ __forceinline__ int rank_in_warp(const bool (&flags)[Each], int (&ranks)[Each]) {
  const unsigned below = (1U << static_cast<unsigned>(lane_index())) - 1U;
  int sum = 0;
  TS_UNROLL
  for (std::size_t i = 0; i < Each; ++i) {
    const unsigned set = __ballot_sync(kAllLanes, flags[i]);
    ranks[i] = sum + __popc(set & below);
    sum += __popc(set);
  }
  return sum;
}

// The decision of a block for its sequence. Fused: that of hot_step, where moves stay in shared
// memory for the gather, and only the first block of a sequence writes table, slots and misses.
template <int Threads, int Each, bool Fused, Mistake M>
class LruStep {
  static constexpr int kWarps = Threads / kWarp;
  using Flags = bool[std::size_t{Each}];
  using Ranks = int[std::size_t{Each}];

 public:
  __device__ __forceinline__ LruStep(const LruArguments& arguments, int sequence)
      : arguments_(arguments),
        sequence_(sequence),
        count_(min(arguments.k, load(arguments.lengths + sequence))),
        first_(warp_index() * Each * kWarp + lane_index()) {
    if constexpr (M == Mistake::no_tail_mask) count_ = arguments.k;
  }

  // Returns the number of rows to fetch. Fused: a barrier must follow.
  __device__ __forceinline__ int update() {
    load_list();
    __syncthreads();
    Flags idle;
    find_rows(idle);
    Ranks ranks;
    leave_sum(rank_in_warp(idle, ranks), 0);
    __syncthreads();
    const int misses = count_ - (arguments_.slots - keep_others(idle, ranks));
    Flags missed;
    TS_UNROLL
    for (int i = 0; i < Each; ++i) {
      const int j = first_ + i * kWarp;
      missed[i] = j < count_ && slot_of()[j] < 0;
    }
    leave_sum(rank_in_warp(missed, ranks), 1);
    if constexpr (M != Mistake::no_barrier_before_victims) __syncthreads();
    store_chosen(missed, ranks, misses);
    if (threadIdx.x == 0 && writes()) store(arguments_.misses + sequence_, misses);
    return misses;
  }
  __device__ __forceinline__ int count() const { return count_; }
  __device__ __forceinline__ int2* moves() const {
    return shared_memory<int2>(lru_shared_bytes(arguments_.k, Threads));
  }

 private:
  __device__ __forceinline__ static bool writes() { return !Fused || blockIdx.x == 0; }
  __device__ __forceinline__ int* chosen() const { return shared_memory<int>(); }
  __device__ __forceinline__ int* slot_of() const { return chosen() + arguments_.k; }
  __device__ __forceinline__ int* victims() const { return chosen() + 2 * arguments_.k; }
  __device__ __forceinline__ int* sums(int which) const {
    return chosen() + 3 * arguments_.k + which * kWarps;
  }
  __device__ __forceinline__ void leave_sum(int sum, int which) const {
    if (lane_index() == 0) sums(which)[warp_index()] = sum;
  }
  // Sum of the warps before this one; `all` gets that of all warps.
  __device__ __forceinline__ int sum_before(int which, int& all) const {
    int before = 0;
    all = 0;
    TS_UNROLL
    for (int warp = 0; warp < kWarps; ++warp) {
      const int sum = sums(which)[warp];
      before += warp < warp_index() ? sum : 0;
      all += sum;
    }
    return before;
  }

  __device__ __forceinline__ void load_list() const {
    const int* list = arguments_.chosen + std::int64_t{sequence_} * arguments_.k;
    for (int j = static_cast<int>(threadIdx.x); j < count_; j += Threads) {
      chosen()[j] = load(list + j);
      slot_of()[j] = -1;
    }
  }

  // Finds this thread's rows of the table in the list; idle: those that it does not hold.
  __device__ __forceinline__ void find_rows(Flags& idle) {
    const int2* held = arguments_.held + std::int64_t{sequence_} * arguments_.slots;
    TS_UNROLL
    for (int i = 0; i < Each; ++i) {
      const int at = first_ + i * kWarp;
      rows_[i] = at < arguments_.slots ? load_coherent(held + at) : make_int2(-1, -1);
    }
    TS_UNROLL
    for (int i = 0; i < Each; ++i) {
      const int position = position_of(chosen(), count_, rows_[i].x);
      if (position >= 0) slot_of()[position] = rows_[i].y;
      const bool pinned = position >= 0 && M != Mistake::chosen_not_pinned;
      idle[i] = first_ + i * kWarp < arguments_.slots && !pinned;
    }
  }

  // Lists the victims and writes the rows that stay; returns the number of rows not chosen.
  __device__ __forceinline__ int keep_others(const Flags& idle, const Ranks& ranks) {
    int all = 0;
    const int before = sum_before(0, all);
    const int victims_wanted = count_ - (arguments_.slots - all);
    int2* next = arguments_.next + std::int64_t{sequence_} * arguments_.slots;
    TS_UNROLL
    for (int i = 0; i < Each; ++i) {
      if (!idle[i]) continue;
      const bool reversed = M == Mistake::newest_evicted;
      const int rank = reversed ? all - 1 - before - ranks[i] : before + ranks[i];
      if (rank < victims_wanted) {
        victims()[rank] = rows_[i].y;
      } else if (writes()) {
        store(next + rank - victims_wanted, rows_[i]);
      }
    }
    return all;
  }

  __device__ __forceinline__ void store_chosen(const Flags& missed, const Ranks& ranks,
                                               int misses) const {
    int all = 0;
    const int before = sum_before(1, all);
    const std::int64_t list = std::int64_t{sequence_} * arguments_.k;
    int2* next =
        arguments_.next + std::int64_t{sequence_} * arguments_.slots + (arguments_.slots - count_);
    TS_UNROLL
    for (int i = 0; i < Each; ++i) {
      const int j = first_ + i * kWarp;
      if (j < count_) {
        const int rank = before + ranks[i];
        const int slot = missed[i] ? victims()[rank] : slot_of()[j];
        const int place = missed[i] ? rank : misses + j - rank;
        const int token = chosen()[j];
        const int2 move = make_int2(token, slot | j << kMovePositionShift);
        if constexpr (Fused) {
          moves()[place] = move;
        } else {
          store(arguments_.moves + list + place, move);
        }
        if (!writes()) continue;
        store(next + place, make_int2(token, slot));
        store(arguments_.slot_of + list + j, slot);
      } else if (j < arguments_.k && writes()) {
        store(arguments_.slot_of + list + j, -1);
      }
    }
  }

  const LruArguments& arguments_;
  int sequence_;
  int count_;
  int first_;  // row of the table, and entry of the list, of this thread's number 0
  int2 rows_[std::size_t{Each}];
};

template <int Threads, int Each, Mistake M = Mistake::none>
__global__ void __launch_bounds__(Threads) lru_update(const LruArguments arguments) {
  LruStep<Threads, Each, false, M> step(arguments, static_cast<int>(blockIdx.x));
  step.update();
}

}  // namespace tiersim::kernels
