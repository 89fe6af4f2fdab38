// Decode attention over a compressed (latent) KV cache on Hopper: wgmma, tensor copies, one
// producer.
//
// Every head of a sequence attends to the same rows [latent | rope]. The values are the latent
// part, so that one copy of a tile in shared memory serves both products. MLA has 64 or 128 heads
// over 512 + 64, a TPLA shard 128 heads over 256 + 64, a GLA-2 shard 64 heads over 256 + 64.
//
// A block has two consumer warpgroups and a producer. The consumers share the work in one of three
// ways:
//   heads   each warpgroup has 64 heads and reads every tile (128 heads, latent <= 256). They run
//           independently, so that the softmax of one overlaps with the products of the other.
//   tokens  both have the same 64 heads and take tiles by turns, each as a separate split.
//   values  both have the same 64 heads, and each holds one half of the value columns (latent 512,
//           whose 64 x 512 sums do not fit the registers of one warpgroup). They own the tiles in
//           turn: the owner computes scores and probabilities, and hands the probabilities to the
//           other through shared memory, with the rows' maxima to which they are relative. Both
//           take the tiles in order, so that the running maxima pass from one to the other and the
//           softmax of one overlaps with the products of the other.
//
// Layouts  q [batch, heads, latent + rope] bf16; kv [pages, 64, latent + rope] bf16, tile t of
//          sequence b in page page_table[b][t]; without a table kv [batch, context, latent + rope].
//          Rows of the last page past the length must hold finite numbers.
//          partial [splits][batch heads][latent] fp32, lse [splits][batch heads] fp32 natural
//          logarithm, minus infinity where a split has no token (its partial is then not written).
//          With `tokens` there are 2 splits a block. kernels/device/combine.cuh joins them.
// Launch   grid (splits, heads / kHeads rounded up, batch), 384 threads, kSharedBytes of shared
//          memory.
// Limiter  128 heads: tensor cores (242 FLOP a byte for MLA, 230 for TPLA); 64 heads: memory.
// In flight  a block keeps its stages full: 3 x 40 KB (latent 256) or 2 x 72 KB a multiprocessor,
//          where HBM needs about 24 KB. With `values` a stage is released and filled in five parts
//          of one or two boxes, each as soon as its last product is done.
// Shared memory  72 KB of queries and 2 x 72 KB of tiles with latent 512, where `values` adds 8 KB
//          for the probabilities of a tile and 1 KB for maxima and totals; 80 KB and 3 x 40 KB with
//          `heads`, 40 KB and 4 x 40 KB with `tokens`.
// Source   sharing of K and V tiles and of 64 x 256 sums by two warpgroups: the published
//          descriptions of MLA decoding on Hopper; splitting over the sequence: flash-decoding.
#pragma once
#include "kernels/device/hopper.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/wgmma.cuh"

namespace tiersim::kernels {

enum class Share { heads, tokens, values };

struct LatentArguments {
  const int* lengths;     // [batch], tokens, 0 to context
  const int* page_table;  // [batch, ceil(context / 64)], or null
  int heads;              // a multiple of 16; the last 64 may be incomplete
  int context;            // rows of a sequence in kv without a page table
  int pages_per_sequence;
  float scale_log2;  // of the scores, times log2(e); positive
  float* partial;
  float* lse;
};

template <int Latent, int Rope, Share How>
struct LatentLayout {
  static constexpr int kTokens = 64;            // of a tile, and of a page
  static constexpr int kDepth = Latent + Rope;  // of a row
  static constexpr int kBoxes = kDepth / 64;    // 64 columns each: 128 B, the width of the swizzle
  static constexpr int kHeads = How == Share::heads ? 128 : 64;  // of a block
  static constexpr int kStages = Latent > 256 ? 2 : How == Share::tokens ? 4 : 3;
  static constexpr int kColumns =
      How == Share::values ? Latent / 2 : Latent;  // of a warpgroup's sums
  static constexpr int kThreads = 384;
  static constexpr int kParts = How == Share::values ? 5 : 1;  // of a tile, released one by one
  static constexpr int kHalf = Latent / 128;                   // boxes of half the value columns
  static constexpr int kBoxBytes = 64 * 128;
  static constexpr int kTileBytes = kBoxes * kBoxBytes;
  static constexpr int kTilesAt = kHeads / 64 * kTileBytes;  // after the queries
  // Probabilities of one tile: 64 x 64 bf16, as rows of 128 B in a swizzled box
  static constexpr int kProbabilitiesAt = kTilesAt + kStages * kTileBytes;
  static constexpr int kMaximaAt = kProbabilitiesAt + (How == Share::values ? kBoxBytes : 0);
  static constexpr int kTotalsAt = kMaximaAt + (How == Share::values ? 2 * 64 * 4 : 0);
  static constexpr int kBarriersAt = kTotalsAt + (How == Share::values ? 2 * 64 * 4 : 0);
  static constexpr int kSharedBytes = kBarriersAt + (2 * kStages * kParts + 1) * 8;
  static constexpr int kSplitsPerBlock = How == Share::tokens ? 2 : 1;
  static_assert(Latent % 64 == 0 && Rope == 64 && kColumns == 256 && kSharedBytes <= 227 * 1024);
  static_assert(How != Share::values || kStages == 2);  // the stage of a tile is its owner

  __device__ static unsigned char* query(int warpgroup) {
    const int at = How == Share::heads ? warpgroup * kTileBytes : 0;
    return shared_memory<unsigned char>(static_cast<std::size_t>(at));
  }
  __device__ static unsigned char* tile(int stage) {
    return shared_memory<unsigned char>(static_cast<std::size_t>(kTilesAt + stage * kTileBytes));
  }
  __device__ static unsigned char* probabilities() {
    return shared_memory<unsigned char>(static_cast<std::size_t>(kProbabilitiesAt));
  }
  __device__ static float* maxima(int warpgroup) {
    return shared_memory<float>(static_cast<std::size_t>(kMaximaAt + warpgroup * 64 * 4));
  }
  __device__ static float* totals(int warpgroup) {
    return shared_memory<float>(static_cast<std::size_t>(kTotalsAt + warpgroup * 64 * 4));
  }
  __device__ static std::uint64_t* full(int stage, int part = 0) {
    return shared_memory<std::uint64_t>(
        static_cast<std::size_t>(kBarriersAt + (stage * kParts + part) * 8));
  }
  __device__ static std::uint64_t* empty(int stage, int part = 0) {
    return full(kStages + stage, part);
  }
  __device__ static std::uint64_t* query_full() { return full(2 * kStages); }

  // With `values` part 0 of a tile is the rope, which the scores alone need. Parts 1 and 2 are the
  // value columns of the owner, the warpgroup of the number of the stage; parts 3 and 4 are those
  // of the other. They are filled in this order.
  __device__ static constexpr int boxes_of_part(int part) {
    if (kParts == 1) return kBoxes;
    return part == 0 ? 1 : kHalf / 2;
  }
  __device__ static constexpr int first_box(int stage, int part) {
    if (kParts == 1) return 0;
    if (part == 0) return kBoxes - 1;
    return (part <= 2 ? stage : 1 - stage) * kHalf + (part - 1) % 2 * (kHalf / 2);
  }
};

namespace latent {

// The tiles [first, first + count) of this block's split.
struct TileRange {
  int first;
  int count;
};
__device__ __forceinline__ TileRange tiles_of_split(int length) {
  const int tiles = (length + 63) / 64;
  const int splits = static_cast<int>(gridDim.x);
  const int each = (tiles + splits - 1) / splits;
  const int first = static_cast<int>(blockIdx.x) * each;
  return {first, max(0, min(each, tiles - first))};
}

// For one thread: loads the queries once, then every tile of the range as stages become free.
template <class Layout, Mistake Plant>
__device__ __forceinline__ void produce(const TensorMap& q_map, const TensorMap& kv_map,
                                        const LatentArguments& a, TileRange range) {
  const int sequence = static_cast<int>(blockIdx.z);
  const int row = sequence * a.heads + static_cast<int>(blockIdx.y) * Layout::kHeads;
  const int query_rows = min(64, a.heads);  // rows of a box of the map; further rows stay unchanged
  barrier_arrive_expect(Layout::query_full(),
                        Layout::kHeads / 64 * Layout::kBoxes * query_rows * 128);
  TS_NO_UNROLL  // it has 24 registers
      for (int box = 0; box < Layout::kHeads / 64 * Layout::kBoxes; ++box) {
    tensor_load(Layout::query(0) + box * Layout::kBoxBytes, &q_map, Layout::query_full(),
                box % Layout::kBoxes * 64, row + box / Layout::kBoxes * 64);
  }
  for (int i = 0; i < range.count; ++i) {
    const int stage = i % Layout::kStages;
    const int round = i / Layout::kStages;
    const int t = range.first + i;
    const int line = a.page_table == nullptr
                         ? sequence * a.context + t * 64
                         : load(a.page_table + sequence * a.pages_per_sequence + t) * 64;
    TS_NO_UNROLL
    for (int part = 0; part < Layout::kParts; ++part) {
      if (Plant != Mistake::ring_overwritten) {
        barrier_wait(Layout::empty(stage, part), (round & 1) ^ 1);
      }
      const int boxes = Layout::boxes_of_part(part);
      const int announced = Plant == Mistake::announces_too_little ? boxes - 1 : boxes;
      barrier_arrive_expect(Layout::full(stage, part), announced * Layout::kBoxBytes);
      TS_NO_UNROLL
      for (int n = 0; n < boxes; ++n) {
        const int box = Layout::first_box(stage, part) + n;
        tensor_load(Layout::tile(stage) + box * Layout::kBoxBytes, &kv_map,
                    Layout::full(stage, part), box * 64, line);
      }
    }
  }
}

// Marks a part of the stage as read by this warp's products, with one arrival for each warp.
template <class Layout>
__device__ __forceinline__ void release_stage(int stage, int part = 0) {
  if (lane_index() == 0) barrier_arrive(Layout::empty(stage, part));
}

// State of this thread's two rows: head rows (t % 32) / 4 and 8 more within the warp's 16.
struct Rows {
  float maximum[2] = {kMinusInfinity, kMinusInfinity};  // of the scores, not scaled
  float sum[2] = {0.0F, 0.0F};                          // this thread's columns only, until the end
};

// scores[64 heads, 64 tokens] = Q K^T of one tile; issued without a wait.
template <class Layout>
__device__ __forceinline__ void multiply_keys(float (&scores)[32], const unsigned char* query,
                                              const unsigned char* tile) {
  wgmma_fence();
  TS_UNROLL
  for (int box = 0; box < Layout::kBoxes; ++box) {
    TS_UNROLL
    for (int k = 0; k < 4; ++k) {
      const int at = box * Layout::kBoxBytes + k * 32;  // 16 columns are 32 B
      wgmma<64, Major::k>(scores, matrix_descriptor(query + at, 16, 1024),
                          matrix_descriptor(tile + at, 16, 1024), box + k > 0);
    }
  }
  wgmma_commit();
}

// scores[64 heads, 64 tokens] += Q K^T over some boxes; not committed.
template <class Layout, int Boxes>
__device__ __forceinline__ void add_boxes(float (&scores)[32], const unsigned char* query,
                                          const unsigned char* tile) {
  const std::uint64_t a = matrix_descriptor(query, 16, 1024);
  const std::uint64_t b = matrix_descriptor(tile, 16, 1024);
  wgmma_fence();
  TS_UNROLL
  for (int box = 0; box < Boxes; ++box) {
    TS_UNROLL
    for (int k = 0; k < 4; ++k) {
      const int at = box * Layout::kBoxBytes + k * 32;  // 16 columns are 32 B
      wgmma<64, Major::k>(scores, descriptor_after(a, at), descriptor_after(b, at));
    }
  }
}

// The same over one box, with Q in registers; with Fresh the first product sets the scores.
template <bool Fresh>
__device__ __forceinline__ void add_box(float (&scores)[32], const unsigned (&query)[4][4],
                                        const unsigned char* box) {
  const std::uint64_t b = matrix_descriptor(box, 16, 1024);
  wgmma_fence();
  TS_UNROLL
  for (int k = 0; k < 4; ++k) {
    wgmma<64, Major::k>(scores, query[k], descriptor_after(b, k * 32), !Fresh || k > 0);
  }
}

// Masks tokens from `valid` on.
__device__ __forceinline__ void mask_tail(float (&scores)[32], int valid) {
  const int column = 2 * (lane_index() % 4);
  TS_UNROLL
  for (int i = 0; i < 32; ++i) {
    if (8 * (i / 4) + column + i % 2 >= valid) scores[i] = kMinusInfinity;
  }
}

// The largest score of each of the two rows over the four lanes that share them.
__device__ __forceinline__ void row_maxima(const float (&scores)[32], float (&maximum)[2]) {
  TS_UNROLL
  for (int r = 0; r < 2; ++r) {
    float largest = kMinusInfinity;
    TS_UNROLL
    for (int i = 0; i < 32; ++i) {
      if (i / 2 % 2 == r) largest = fmaxf(largest, scores[i]);
    }
    maximum[r] = warp_max<4>(largest);
  }
}

// Raises the rows' maxima and rescales the sums under the old ones. It has no effect where no row
// of the warp has a new maximum, which is usual after a few tiles.
__device__ __forceinline__ void raise_maxima(Rows& rows, const float (&maximum)[2],
                                             float scale_log2, float (&sums)[128]) {
  const bool higher = maximum[0] > rows.maximum[0] || maximum[1] > rows.maximum[1];
  if (!__any_sync(kAllLanes, higher)) return;
  TS_UNROLL
  for (int r = 0; r < 2; ++r) {
    const float raised = fmaxf(rows.maximum[r], maximum[r]);
    const float factor = exp2_fast((rows.maximum[r] - raised) * scale_log2);
    rows.maximum[r] = raised;
    rows.sum[r] *= factor;
    TS_UNROLL
    for (int i = 0; i < 128; ++i) {
      if (i / 2 % 2 == r) sums[i] *= factor;
    }
  }
}

// Probabilities relative to the rows' maxima, packed as the A fragments of four steps of 16 tokens.
__device__ __forceinline__ void exponentiate(const float (&scores)[32], Rows& rows,
                                             float scale_log2, unsigned (&p)[4][4]) {
  const float shift[2] = {rows.maximum[0] * scale_log2, rows.maximum[1] * scale_log2};
  TS_UNROLL
  for (int step = 0; step < 4; ++step) {
    TS_UNROLL
    for (int r = 0; r < 4; ++r) {
      const int i = 8 * step + 2 * (r & 1) + 4 * (r >> 1);
      const float low = exp2_fast(scores[i] * scale_log2 - shift[r & 1]);
      const float high = exp2_fast(scores[i + 1] * scale_log2 - shift[r & 1]);
      rows.sum[r & 1] += low + high;
      p[step][r] = pack_bf16(low, high);
    }
  }
}

// sums += P V with P in registers; issued without a wait. values: first box of the value columns.
__device__ __forceinline__ void multiply_values(float (&sums)[128], const unsigned (&p)[4][4],
                                                const unsigned char* values) {
  wgmma_fence();
  TS_UNROLL
  for (int step = 0; step < 4; ++step) {
    wgmma<256, Major::columns>(sums, p[step],
                               matrix_descriptor(values + step * 16 * 128, 64 * 128, 1024));
  }
  wgmma_commit();
}

// The same with P[64 heads, 64 tokens] in shared memory.
__device__ __forceinline__ void multiply_values(float (&sums)[128], const unsigned char* p,
                                                const unsigned char* values) {
  const std::uint64_t a = matrix_descriptor(p, 16, 1024);
  const std::uint64_t b = matrix_descriptor(values, 64 * 128, 1024);
  wgmma_fence();
  TS_UNROLL
  for (int step = 0; step < 4; ++step) {
    wgmma<256, Major::columns>(sums, descriptor_after(a, step * 32),
                               descriptor_after(b, step * 16 * 128));
  }
  wgmma_commit();
}

// Offset in a swizzled box of 64 rows of 128 B of this thread's register r of an A fragment: the
// 16 B units of a row are permuted by its number. There are no bank conflicts: the eight rows of a
// warp's access hit eight units of four banks each.
__device__ __forceinline__ int fragment_offset(int step, int r) {
  const int row = 16 * (warp_index() % 4) + lane_index() / 4 + 8 * (r & 1);
  const int unit = (2 * step + (r >> 1)) ^ (row & 7);
  return row * 128 + unit * 16 + lane_index() % 4 * 4;
}
__device__ __forceinline__ void store_fragments(unsigned char* to, const unsigned (&a)[4][4]) {
  TS_UNROLL
  for (int step = 0; step < 4; ++step) {
    TS_UNROLL
    for (int r = 0; r < 4; ++r) {
      *reinterpret_cast<unsigned*>(to + fragment_offset(step, r)) = a[step][r];
    }
  }
}
__device__ __forceinline__ void read_fragments(const unsigned char* from, unsigned (&a)[4][4]) {
  TS_UNROLL
  for (int step = 0; step < 4; ++step) {
    TS_UNROLL
    for (int r = 0; r < 4; ++r) {
      a[step][r] = *reinterpret_cast<const unsigned*>(from + fragment_offset(step, r));
    }
  }
}

// Writes normalised sums and the logarithm of the rows' totals. rows.sum must hold the totals.
template <int Latent>
__device__ __forceinline__ void write_rows(const LatentArguments& a, const Rows& rows,
                                           const float (&sums)[128], int split, int head,
                                           int first_column, bool writes_lse) {
  const int batch = static_cast<int>(gridDim.z);
  TS_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int of_sequence = head + 16 * (warp_index() % 4) + lane_index() / 4 + 8 * r;
    if (of_sequence >= a.heads) return;
    const std::size_t line =
        (static_cast<std::size_t>(split) * static_cast<std::size_t>(batch) + blockIdx.z) *
            static_cast<std::size_t>(a.heads) +
        static_cast<std::size_t>(of_sequence);
    const float total = rows.sum[r];
    if (writes_lse && lane_index() % 4 == 0) {
      store(a.lse + line, total > 0.0F ? (rows.maximum[r] * a.scale_log2 + log2_fast(total)) * kLn2
                                       : kMinusInfinity);
    }
    if (total <= 0.0F) continue;
    const float share = 1.0F / total;
    float* to = a.partial + line * Latent + first_column + 2 * (lane_index() % 4);
    TS_UNROLL
    for (int i = 2 * r; i < 128; i += 4) {
      store(reinterpret_cast<float2*>(to + 8 * (i / 4)),
            make_float2(sums[i] * share, sums[i + 1] * share));
    }
  }
}

}  // namespace latent
}  // namespace tiersim::kernels
