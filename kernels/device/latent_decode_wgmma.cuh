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

// Publishes this warpgroup's two numbers for each row and reads those of the other warpgroup.
template <class Layout>
__device__ __forceinline__ void exchange(const float (&mine)[2], float (&other)[2], int warpgroup) {
  const int row = 16 * (warp_index() % 4) + lane_index() / 4;
  if (lane_index() % 4 == 0) {
    Layout::maxima(warpgroup)[row] = mine[0];
    Layout::maxima(warpgroup)[row + 8] = mine[1];
  }
  named_barrier_wait(1, 256);
  other[0] = Layout::maxima(1 - warpgroup)[row];
  other[1] = Layout::maxima(1 - warpgroup)[row + 8];
}

// A pair of tiles, one for each warpgroup; the last pair may lack one. Template parameters say
// which tiles exist, since a branch would serialise the products in flight.
template <class Layout, bool Mine, bool Others, Mistake Plant>
__device__ __forceinline__ void consume_pair(float (&sums)[128], Rows& rows, float scale_log2,
                                             int pair, int valid, int warpgroup) {
  const int parity = pair & 1;  // two stages: a round is a pair
  unsigned char* tile = Layout::tile(warpgroup);
  constexpr int kRopeAt = (Layout::kBoxes - 1) * Layout::kBoxBytes;
  float scores[32];
  if constexpr (Mine) {
    barrier_wait(Layout::full(warpgroup), parity);
    multiply_keys<Layout>(scores, Layout::query(0), tile);
    wgmma_wait<0>();
    mask_tail(scores, Plant == Mistake::no_tail_mask ? 64 : valid);
  } else {
    TS_UNROLL
    for (int i = 0; i < 32; ++i) scores[i] = kMinusInfinity;
  }
  float maximum[2];
  float other[2];
  row_maxima(scores, maximum);
  exchange<Layout>(maximum, other, warpgroup);
  TS_UNROLL
  for (int r = 0; r < 2; ++r) maximum[r] = fmaxf(maximum[r], other[r]);
  raise_maxima(rows, maximum, scale_log2, sums);
  unsigned p[4][4];
  exponentiate(scores, rows, scale_log2, p);
  const int columns = warpgroup * 4 * Layout::kBoxBytes;  // four boxes of 64
  if constexpr (Mine) {
    // First, since registers of a product in flight may not be accessed, not even read.
    store_probabilities(tile + kRopeAt, p);
    fence_async_proxy();
    multiply_values(sums, p, tile + columns);
  }
  if (Plant != Mistake::no_barrier_before_probabilities) named_barrier_wait(2, 256);
  if constexpr (Others) {
    const unsigned char* their = Layout::tile(1 - warpgroup);
    barrier_wait(Layout::full(1 - warpgroup), parity);
    multiply_values(sums, their + kRopeAt, their + columns);
  }
  wgmma_wait<0>();
  if constexpr (Mine) release_stage<Layout>(warpgroup);
  if constexpr (Others) release_stage<Layout>(1 - warpgroup);
}

// Two warpgroups that share 64 heads and split the value columns.
template <int Latent, class Layout, Mistake Plant>
__device__ __forceinline__ void consume_together(const LatentArguments& a, TileRange range,
                                                 int length, int warpgroup) {
  float sums[128];
  TS_UNROLL
  for (int i = 0; i < 128; ++i) sums[i] = 0.0F;
  Rows rows;
  if (range.count > 0) barrier_wait(Layout::query_full(), 0);
  const int pairs = range.count / 2;
  int valid = length - (range.first + warpgroup) * 64;
  for (int pair = 0; pair < pairs; ++pair, valid -= 128) {
    consume_pair<Layout, true, true, Plant>(sums, rows, a.scale_log2, pair, valid, warpgroup);
  }
  if (range.count % 2 == 1) {
    if (warpgroup == 0) {
      consume_pair<Layout, true, false, Plant>(sums, rows, a.scale_log2, pairs, valid, warpgroup);
    } else {
      consume_pair<Layout, false, true, Plant>(sums, rows, a.scale_log2, pairs, valid, warpgroup);
    }
  }
  float other[2];
  TS_UNROLL
  for (int r = 0; r < 2; ++r) rows.sum[r] = warp_sum<4>(rows.sum[r]);
  exchange<Layout>(rows.sum, other, warpgroup);
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
      barrier_init(Layout::full(stage), 1);
      barrier_init(Layout::empty(stage), How == Share::tokens ? 4 : 8);  // warps that read it
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
