// The kernel; its parts are in latent_wgmma.cuh.
#pragma once
#include "kernels/device/latent_wgmma.cuh"

namespace tiersim::kernels {
namespace latent {

// Position of a consumer in the ring of stages.
template <int Stages>
struct Place {
  int stage;
  int parity = 0;
  __device__ __forceinline__ Place after(int tiles) const {
    const int next = stage + tiles;
    return next < Stages ? Place{next, parity} : Place{next - Stages, parity ^ 1};
  }
};

// One tile with its scores in `scores`. With More, the keys of the next tile are multiplied while
// the probabilities of this one are computed, so that the tensor cores stay busy; `scores` then
// holds the scores of the next tile.
template <class Layout, int Step, bool More>
__device__ __forceinline__ void consume_tile(float (&sums)[128], float (&scores)[32], Rows& rows,
                                             float scale_log2, int valid, int warpgroup,
                                             const Place<Layout::kStages>& place) {
  float next[32];
  if constexpr (More) {
    const Place<Layout::kStages> ahead = place.after(Step);
    barrier_wait(Layout::full(ahead.stage), ahead.parity);
    multiply_keys<Layout>(next, Layout::query(forget(warpgroup)), Layout::tile(ahead.stage));
  }
  if constexpr (!More) mask_tail(scores, valid);
  float maximum[2];
  row_maxima(scores, maximum);
  raise_maxima(rows, maximum, scale_log2, sums);
  unsigned p[4][4];
  exponentiate(scores, rows, scale_log2, p);
  multiply_values(sums, p, Layout::tile(place.stage));
  wgmma_wait<0>();
  release_stage<Layout>(place.stage);
  if constexpr (More) {
    TS_UNROLL
    for (int i = 0; i < 32; ++i) scores[i] = next[i];
  }
}

// A warpgroup with its own rows or its own tiles.
template <int Latent, class Layout, Share How, Mistake Plant>
__device__ __forceinline__ void consume_alone(const LatentArguments& a, TileRange range, int length,
                                              int warpgroup) {
  constexpr int kStep = How == Share::tokens ? 2 : 1;
  float sums[128];
  TS_UNROLL
  for (int i = 0; i < 128; ++i) sums[i] = 0.0F;
  Rows rows;
  int tile = How == Share::tokens ? warpgroup : 0;
  if (tile < range.count) {
    Place<Layout::kStages> place{tile};
    float scores[32];
    barrier_wait(Layout::query_full(), 0);
    barrier_wait(Layout::full(tile), 0);
    multiply_keys<Layout>(scores, Layout::query(warpgroup), Layout::tile(tile));
    wgmma_wait<0>();
    for (; tile + kStep < range.count; tile += kStep) {
      consume_tile<Layout, kStep, true>(sums, scores, rows, a.scale_log2, 64, warpgroup, place);
      place = place.after(kStep);
    }
    const int valid = length - (range.first + tile) * 64;  // only the last tile is partial
    consume_tile<Layout, kStep, false>(sums, scores, rows, a.scale_log2,
                                       Plant == Mistake::no_tail_mask ? 64 : valid, warpgroup,
                                       place);
  }
  TS_UNROLL
  for (int r = 0; r < 2; ++r) rows.sum[r] = warp_sum<4>(rows.sum[r]);
  const int split = static_cast<int>(blockIdx.x) * kStep + (How == Share::tokens ? warpgroup : 0);
  const int head =
      static_cast<int>(blockIdx.y) * Layout::kHeads + (How == Share::heads ? warpgroup * 64 : 0);
  write_rows<Latent>(a, rows, sums, split, head, 0, true);
}

// Writes this thread's two rows of 64 numbers in shared memory; the four lanes that share the rows
// have the same numbers.
__device__ __forceinline__ void publish_rows(float* to, const float (&numbers)[2]) {
  const int row = 16 * (warp_index() % 4) + lane_index() / 4;
  if (lane_index() % 4 == 0) {
    to[row] = numbers[0];
    to[row + 8] = numbers[1];
  }
}
__device__ __forceinline__ void read_rows(const float* from, float (&numbers)[2]) {
  const int row = 16 * (warp_index() % 4) + lane_index() / 4;
  numbers[0] = from[row];
  numbers[1] = from[row + 8];
}

// Named barriers. 1 + w: the probabilities of a tile that warpgroup w owns are in shared memory; w
// arrives and the other waits, once for each tile. 3: the totals of both are in shared memory. 4 +
// w: all warps of warpgroup w have finished a product with the probabilities of the other.
constexpr int kProbabilitiesOf = 1;
constexpr int kTotals = 3;
constexpr int kProductDoneOf = 4;

// Waits for the probabilities of the tile in the stage of the other warpgroup, `owner`, and issues
// their product with this warpgroup's value columns.
template <class Layout, Mistake Plant>
__device__ __forceinline__ void multiply_others(float (&sums)[128], Rows& rows, float scale_log2,
                                                int owner, int parity) {
  // The owner waits for these phases as well, and they stay until this warpgroup releases them.
  barrier_wait(Layout::full(owner, 3), parity);
  barrier_wait(Layout::full(owner, 4), parity);
  if (Plant != Mistake::no_barrier_before_probabilities) {
    named_barrier_wait(kProbabilitiesOf + owner, 256);
  }
  float maximum[2];
  read_rows(Layout::maxima(owner), maximum);
  raise_maxima(rows, maximum, scale_log2, sums);
  multiply_values(sums, Layout::probabilities(),
                  Layout::tile(owner) + Layout::first_box(owner, 3) * Layout::kBoxBytes);
}
template <class Layout>
__device__ __forceinline__ void release_others(int owner) {
  release_stage<Layout>(owner, 3);
  release_stage<Layout>(owner, 4);
}

// Waits for a part of a tile that this warpgroup owns and adds its share of the scores.
template <class Layout, int Part>
__device__ __forceinline__ void add_part(float (&scores)[32], int warpgroup, int parity) {
  barrier_wait(Layout::full(warpgroup, Part), parity);
  const int at = Layout::first_box(warpgroup, Part) * Layout::kBoxBytes;
  add_boxes<Layout, Layout::boxes_of_part(Part)>(scores, Layout::query(0) + at,
                                                 Layout::tile(warpgroup) + at);
}

// The queries' columns of two boxes, the rope and the first of part 1, as A fragments. They stay in
// registers, since reads of shared memory limit the scores: two operands of 2 KB for a product of
// 32 cycles. A third box would be spilled.
struct QueryFragments {
  unsigned rope[4][4] = {};
  unsigned first[4][4] = {};
};

// Tile `tile` of the range, which this warpgroup owns, and the values of the one before it, which
// the other warpgroup owns. There is none before it with First; a template parameter says so, since
// a branch would serialise the products in flight.
//
// Products are issued in the order in which their data come: the first parts of the tile, which are
// free since this warpgroup's last step, then the probabilities of the other, then the last parts,
// which are free since the other's last step. Thus every wait is for what follows from the steps of
// earlier tiles, and the warpgroups cannot wait for each other.
//
// The probabilities lie in one box for both warpgroups: this one writes those of its tile after its
// product with those of the tile before, which nobody else reads. A warp's wait covers its own part
// of that product, so the warps of the warpgroup meet before the first of them writes.
template <class Layout, bool First, Mistake Plant>
__device__ __forceinline__ void consume_own(float (&sums)[128], Rows& rows,
                                            const QueryFragments& query, float scale_log2, int tile,
                                            int valid, int warpgroup) {
  const int parity = tile / 2 & 1;
  const unsigned char* const tile_at = Layout::tile(warpgroup);
  float scores[32];
  barrier_wait(Layout::full(warpgroup, 0), parity);
  add_box<true>(scores, query.rope, tile_at + Layout::first_box(0, 0) * Layout::kBoxBytes);
  const int first = Layout::first_box(warpgroup, 1) * Layout::kBoxBytes;
  const int second = first + Layout::kBoxBytes;
  barrier_wait(Layout::full(warpgroup, 1), parity);
  add_box<false>(scores, query.first, tile_at + first);
  add_boxes<Layout, 1>(scores, Layout::query(0) + second, tile_at + second);
  add_part<Layout, 2>(scores, warpgroup, parity);
  wgmma_commit();
  if constexpr (!First) {
    multiply_others<Layout, Plant>(sums, rows, scale_log2, 1 - warpgroup, (tile - 1) / 2 & 1);
  }
  add_part<Layout, 3>(scores, warpgroup, parity);
  add_part<Layout, 4>(scores, warpgroup, parity);
  wgmma_commit();
  if constexpr (!First) {
    wgmma_wait<1>();
    release_others<Layout>(1 - warpgroup);
  }
  wgmma_wait<0>();
  release_stage<Layout>(warpgroup, 0);
  if (valid < 64 && Plant != Mistake::no_tail_mask) mask_tail(scores, valid);
  float maximum[2];
  row_maxima(scores, maximum);
  raise_maxima(rows, maximum, scale_log2, sums);
  unsigned p[4][4];
  exponentiate(scores, rows, scale_log2, p);
  if constexpr (!First) named_barrier_wait(kProductDoneOf + warpgroup, 128);
  // Before the product, since registers of a product in flight may not be accessed, not even read.
  store_fragments(Layout::probabilities(), p);
  publish_rows(Layout::maxima(warpgroup), rows.maximum);
  fence_async_proxy();
  if (Plant != Mistake::no_barrier_before_probabilities) {
    named_barrier_arrive(kProbabilitiesOf + warpgroup, 256);
  }
  multiply_values(sums, p, tile_at + first);
  wgmma_wait<0>();
  release_stage<Layout>(warpgroup, 1);
  release_stage<Layout>(warpgroup, 2);
}

// Two warpgroups that share 64 heads and split the value columns. Each takes all tiles of the range
// in order, as their owner or with the probabilities of the other.
template <int Latent, class Layout, Mistake Plant>
__device__ __forceinline__ void consume_together(const LatentArguments& a, TileRange range,
                                                 int length, int warpgroup) {
  // Tells the compiler that the warp's threads have one number, for uniform registers.
  warpgroup = __shfl_sync(kAllLanes, warpgroup, 0);
  float sums[128];
  TS_UNROLL
  for (int i = 0; i < 128; ++i) sums[i] = 0.0F;
  Rows rows;
  QueryFragments query;
  if (range.count > 0) {
    barrier_wait(Layout::query_full(), 0);
    const auto box = [](int number) { return Layout::query(0) + number * Layout::kBoxBytes; };
    read_fragments(box(Layout::first_box(0, 0)), query.rope);
    read_fragments(box(Layout::first_box(warpgroup, 1)), query.first);
  }
  int tile = warpgroup;
  int valid = length - (range.first + tile) * 64;
  if (warpgroup == 0 && range.count > 0) {
    consume_own<Layout, true, Plant>(sums, rows, query, a.scale_log2, tile, valid, warpgroup);
    tile += 2;
    valid -= 128;
  }
  for (; tile < range.count; tile += 2, valid -= 128) {
    consume_own<Layout, false, Plant>(sums, rows, query, a.scale_log2, tile, valid, warpgroup);
  }
  if (tile == range.count && range.count > 0) {  // the last tile is the other's
    multiply_others<Layout, Plant>(sums, rows, a.scale_log2, 1 - warpgroup, (tile - 1) / 2 & 1);
    wgmma_wait<0>();
    release_others<Layout>(1 - warpgroup);
  }
  // Both warpgroups have seen the maxima of all tiles, so that their totals have one reference.
  float other[2];
  TS_UNROLL
  for (int r = 0; r < 2; ++r) rows.sum[r] = warp_sum<4>(rows.sum[r]);
  publish_rows(Layout::totals(warpgroup), rows.sum);
  named_barrier_wait(kTotals, 256);
  read_rows(Layout::totals(1 - warpgroup), other);
  TS_UNROLL
  for (int r = 0; r < 2; ++r) rows.sum[r] += other[r];
  write_rows<Latent>(a, rows, sums, static_cast<int>(blockIdx.x),
                     static_cast<int>(blockIdx.y) * Layout::kHeads, warpgroup * 256,
                     warpgroup == 0);
}

}  // namespace latent

template <int Latent, int Rope, Share How, Mistake Plant = Mistake::none>
__global__ void __launch_bounds__(384, 1)
    latent_decode_wgmma(const __grid_constant__ TensorMap q_map,
                        const __grid_constant__ TensorMap kv_map, const LatentArguments arguments) {
  using Layout = LatentLayout<Latent, Rope, How>;
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Layout::kStages; ++stage) {
      for (int part = 0; part < Layout::kParts; ++part) {
        barrier_init(Layout::full(stage, part), 1);
        // The warps that release it
        barrier_init(Layout::empty(stage, part), How == Share::heads ? 8 : 4);
      }
    }
    barrier_init(Layout::query_full(), 1);
    fence_barrier_init();
  }
  __syncthreads();
  const int length = load(arguments.lengths + blockIdx.z);
  const latent::TileRange range = latent::tiles_of_split(length);
  if (warpgroup == 2) {
    lower_registers<24>();
    if (threadIdx.x == 256 && range.count > 0) {
      latent::produce<Layout, Plant>(q_map, kv_map, arguments, range);
    }
  } else {
    raise_registers<240>();
    if constexpr (How == Share::values) {
      latent::consume_together<Latent, Layout, Plant>(arguments, range, length, warpgroup);
    } else {
      latent::consume_alone<Latent, Layout, How, Plant>(arguments, range, length, warpgroup);
    }
  }
}

}  // namespace tiersim::kernels
