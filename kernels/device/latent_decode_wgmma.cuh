// The kernel whose parts are in latent_wgmma.cuh.
#pragma once
#include "kernels/device/latent_wgmma.cuh"

namespace tiersim::kernels {
namespace latent {

// A warpgroup that has rows of its own or tiles of its own.
template <int Latent, class Layout, Share How, Mistake Plant>
__device__ __forceinline__ void consume_alone(const LatentArguments& a, TileRange range, int length,
                                              int warpgroup) {
  float sums[128];
  TS_UNROLL
  for (int i = 0; i < 128; ++i) sums[i] = 0.0F;
  Rows rows;
  if (range.count > 0) barrier_wait(Layout::query_full(), 0);
  const int step = How == Share::tokens ? 2 : 1;
  for (int i = How == Share::tokens ? warpgroup : 0; i < range.count; i += step) {
    const int stage = i % Layout::kStages;
    barrier_wait(Layout::full(stage), i / Layout::kStages & 1);
    const unsigned char* tile = Layout::tile(stage);
    float scores[32];
    multiply_keys<Layout>(scores, Layout::query(warpgroup), tile);
    const int valid = length - (range.first + i) * 64;
    scale_and_mask(scores, a.scale_log2, Plant == Mistake::no_tail_mask ? 64 : valid);
    float maximum[2];
    row_maxima(scores, maximum);
    raise_maxima(rows, maximum, sums);
    unsigned p[4][4];
    exponentiate(scores, rows, p);
    multiply_values(sums, p, tile);
    wgmma_wait<0>();
    if (threadIdx.x % 128 == 0) barrier_arrive(Layout::empty(stage));
  }
  TS_UNROLL
  for (int r = 0; r < 2; ++r) rows.sum[r] = warp_sum<4>(rows.sum[r]);
  const int split = static_cast<int>(blockIdx.x) * step + (How == Share::tokens ? warpgroup : 0);
  const int head =
      static_cast<int>(blockIdx.y) * Layout::kHeads + (How == Share::heads ? warpgroup * 64 : 0);
  write_rows<Latent>(a, rows, sums, split, head, 0, true);
}

// Publishes this warpgroup's two numbers a row and fetches the other's.
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

// A pair of tiles, one a warpgroup; of the last pair one may be missing. Which are there is known
// when this is compiled: products in flight across a branch would be serialised.
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
    scale_and_mask(scores, scale_log2, Plant == Mistake::no_tail_mask ? 64 : valid);
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
  raise_maxima(rows, maximum, sums);
  unsigned p[4][4];
  exponentiate(scores, rows, p);
  const int columns = warpgroup * 4 * Layout::kBoxBytes;  // four boxes of 64
  if constexpr (Mine) {
    multiply_values(sums, p, tile + columns);
    store_probabilities(tile + kRopeAt, p);
    fence_async_proxy();
  }
  if (Plant != Mistake::no_barrier_before_probabilities) named_barrier_wait(2, 256);
  if constexpr (Others) {
    const unsigned char* their = Layout::tile(1 - warpgroup);
    barrier_wait(Layout::full(1 - warpgroup), parity);
    multiply_values(sums, their + kRopeAt, their + columns);
  }
  wgmma_wait<0>();
  if (threadIdx.x % 128 == 0) {
    if constexpr (Mine) barrier_arrive(Layout::empty(warpgroup));
    if constexpr (Others) barrier_arrive(Layout::empty(1 - warpgroup));
  }
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
      barrier_init(Layout::empty(stage), How == Share::tokens ? 1 : 2);
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
