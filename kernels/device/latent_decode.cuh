// Decode attention over a compressed (latent) cache on mma.sync: every head attends to the same
// rows [latent | rope], whose latent part is also the value. MLA has 64 or 128 heads over 512 + 64,
// a TPLA shard 128 heads over 256 + 64, a GLA-2 shard 64 heads over 256 + 64.
//
// Layouts  q [batch, heads, latent + rope] bf16; kv [batch, context, latent + rope] bf16, or with a
//          page table [pages, 64, latent + rope], tokens 64 t.. of sequence b in page
//          page_table[b][t]; lengths [batch] int32, 0 to context. Result: see DecodeResult; rows
//          are batch x heads.
// Launch   grid (heads / kRows, splits, batch), kThreads threads, kSharedBytes of shared memory.
// Approach split over the sequence (FlashDecoding). A block holds kRows queries and a ring of
//          tiles in shared memory. Its warps form RowWarps groups of ColumnWarps: a group has
//          16 RowTiles heads; for the scores its warps divide the tokens of a tile, for the values
//          the latent columns, since 16 rows x 512 columns of sums do not fit one warp. The
//          probabilities cross in shared memory. Only the warps of a group wait for each other
//          there, so that groups drift apart and one's softmax runs under another's products.
//          Every 16 x 16 operand from shared memory feeds 2 RowTiles products: with RowTiles 2 the
//          shared memory keeps up with the tensor cores (4 clocks a load, about 1.6 a product, an
//          SM of an H200).
// Limiter  the tensor cores through mma.sync, which reach about 62 % of what wgmma does
//          (~ 600 TFLOP/s on an H200), and shared memory beside them; with 16 heads memory.
// In flight Stages - 1 tiles of a block: 72 KB (latent 512), 80 KB (TPLA), 2 x 40 KB (GLA-2), where
//          HBM needs 24 KB an SM.
#pragma once
#include "kernels/device/decode_parts.cuh"
#include "kernels/device/matrix_tile.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/named_barrier.cuh"

namespace tiersim::kernels {

struct LatentDecodeArguments {
  const bf16* q;
  const bf16* kv;
  const int* lengths;
  const int* page_table;  // [batch, pages_per_sequence], or null
  int context;            // rows of a sequence in kv without a page table
  int pages_per_sequence;
  float scale_log2;  // of the scores, times log2(e)
  DecodeResult result;
};

// Tile: tokens of a tile, 32 or 64.
template <int LatentDim, int RopeDim, int Row_Warps, int Row_Tiles, int Column_Warps, int Tile,
          int Ring>
struct LatentDecodeLayout {
  static constexpr int kLatent = LatentDim;
  static constexpr int kDepth = LatentDim + RopeDim;
  static constexpr int kRowTiles = Row_Tiles;
  static constexpr int kColumnWarps = Column_Warps;
  static constexpr int kTokens = Tile;
  static constexpr int kStages = Ring;
  static constexpr int kGroupRows = 16 * Row_Tiles;
  static constexpr int kRows = kGroupRows * Row_Warps;  // heads of a block
  static constexpr int kThreads = Row_Warps * Column_Warps * kWarp;
  static constexpr int kWarpTokens = Tile / Column_Warps;        // in the scores
  static constexpr int kWarpColumns = LatentDim / Column_Warps;  // in the values
  static constexpr int kUnits = kDepth / 8;                      // 16 B units of a row
  static constexpr int kPageTokens = 64;

  static constexpr int kQueryBytes = kRows * kDepth * 2;
  static constexpr int kStageBytes = Tile * kDepth * 2;
  static constexpr int kRing = kQueryBytes;
  static constexpr int kProbabilities = kRing + Ring * kStageBytes;    // [kRows][Tile] bf16
  static constexpr int kExchange = kProbabilities + kRows * Tile * 2;  // [kColumnWarps][kRows] fp32
  static constexpr int kSharedBytes = kExchange + Column_Warps * kRows * 4;

  // Copies: 8 threads take 128 B of a row.
  static constexpr int kRowsAtOnce = kThreads / 8;
  static constexpr int kSegments = kUnits / 8;
  static_assert(kUnits % 8 == 0 && Tile % kRowsAtOnce == 0 && kRows % kRowsAtOnce == 0);
  static_assert(kWarpTokens % 16 == 0 && kWarpColumns % 16 == 0 && kPageTokens % Tile == 0);
};

template <class Layout, Mistake Planted>
class LatentDecodeBlock {
  static constexpr int kRowTiles = Layout::kRowTiles;
  static constexpr int kScoreTiles = Layout::kWarpTokens / 8;
  static constexpr int kValueTiles = Layout::kWarpColumns / 8;
  // Steps of the scores' product that are unrolled, as many as fit the registers.
  static constexpr int kStepsAtOnce = kRowTiles == 1 ? 4 : 2;
  using Scores = float[std::size_t{kRowTiles}][std::size_t{kScoreTiles}][4];

 public:
  __device__ __forceinline__ LatentDecodeBlock(const LatentDecodeArguments& arguments, int end)
      : arguments_(arguments),
        end_(end),
        lane_(lane_index()),
        group_(warp_index() / Layout::kColumnWarps),
        column_warp_(warp_index() % Layout::kColumnWarps),
        copy_row_(static_cast<int>(threadIdx.x) / 8),
        copy_unit_(static_cast<int>(threadIdx.x) % 8) {
    for_each_row([&](int t, int upper, int) { highest_[t][upper] = kMinusInfinity; });
  }

  // Begins to copy the queries of the block, as part of the next group.
  __device__ __forceinline__ void fetch_queries(std::int64_t first_row) {
    const bf16* from = arguments_.q + (first_row + copy_row_) * Layout::kDepth + 8 * copy_unit_;
    copy_rows<Layout::kRows>(from, queries(), Layout::kRows);
  }

  // Begins to copy a tile of tokens into a stage. Commits a group even where there is no tile.
  __device__ __forceinline__ void fetch(int first_token, int stage) {
    if (first_token < end_) {
      const auto sequence = static_cast<std::int64_t>(blockIdx.z);
      std::int64_t row = sequence * arguments_.context + first_token;
      if (arguments_.page_table != nullptr) {
        constexpr int kPage = Layout::kPageTokens;
        const int page = load(arguments_.page_table + sequence * arguments_.pages_per_sequence +
                              first_token / kPage);
        row = std::int64_t{page} * kPage + first_token % kPage;
      }
      const bf16* from = arguments_.kv + (row + copy_row_) * Layout::kDepth + 8 * copy_unit_;
      copy_rows<Layout::kTokens>(from, tile(stage), end_ - first_token);
    }
    copy_async_commit();
  }

  __device__ __forceinline__ void attend(int first_token, int stage) {
    Scores s = {};
    multiply_keys(s, stage);
    leave_peaks(s, first_token);
    group_barrier();
    weigh(s);
    if constexpr (Planted != Mistake::no_barrier_before_probabilities) group_barrier();
    multiply_values(stage);
  }

  // first_row: first row of the block, among all rows.
  __device__ __forceinline__ void store_result(std::int64_t first_row, int rows) {
    float* exchange = shared_memory<float>(std::size_t{Layout::kExchange});
    for_each_row([&](int t, int upper, int row) {
      const float sum = row_sum(weights_[t][upper]);
      if (lane_ % 4 == 0) exchange[column_warp_ * Layout::kRows + row] = sum;
    });
    group_barrier();
    for_each_row([&](int t, int upper, int row) {
      float weights = 0;
      TS_UNROLL
      for (int c = 0; c < Layout::kColumnWarps; ++c) weights += exchange[c * Layout::kRows + row];
      store_row(t, upper, first_row + row, rows, weights);
    });
  }

 private:
  __device__ __forceinline__ unsigned char* queries() const {
    return shared_memory<unsigned char>();
  }
  __device__ __forceinline__ unsigned char* tile(int stage) const {
    return shared_memory<unsigned char>(std::size_t(Layout::kRing + stage * Layout::kStageBytes));
  }
  __device__ __forceinline__ void group_barrier() const {
    named_barrier_wait(1 + group_, Layout::kColumnWarps * kWarp);
  }
  // Calls f(row tile, upper eight rows of it, row of the block) for the rows of this lane's
  // accumulators.
  template <class F>
  __device__ __forceinline__ void for_each_row(const F& f) const {
    TS_UNROLL
    for (int t = 0; t < kRowTiles; ++t) {
      TS_UNROLL
      for (int upper = 0; upper < 2; ++upper) {
        f(t, upper, group_ * Layout::kGroupRows + 16 * t + 8 * upper + lane_ / 4);
      }
    }
  }

  // Copies rows [0, Rows) of a tile; rows from `valid` on become zeros. `from`: source of this
  // thread.
  template <int Rows>
  __device__ __forceinline__ void copy_rows(const bf16* from, unsigned char* to, int valid) const {
    TS_UNROLL
    for (int i = 0; i < Rows / Layout::kRowsAtOnce; ++i) {
      const int row = i * Layout::kRowsAtOnce + copy_row_;
      const int bytes = row < valid ? 16 : 0;
      TS_UNROLL
      for (int segment = 0; segment < Layout::kSegments; ++segment) {
        copy_async(to + swizzled<Layout::kUnits>(row, 8 * segment + copy_unit_),
                   from + i * Layout::kRowsAtOnce * Layout::kDepth + 64 * segment, bytes);
      }
    }
  }

  // Computes the scores of the group's heads and this warp's tokens.
  __device__ __forceinline__ void multiply_keys(Scores& s, int stage) const {
    constexpr int kUnits = Layout::kUnits;
    TS_UNROLL_BY(kStepsAtOnce)
    for (int k = 0; k < Layout::kDepth / 16; ++k) {
      unsigned a[std::size_t{kRowTiles}][4];
      TS_UNROLL
      for (int t = 0; t < kRowTiles; ++t) {
        load_a<kUnits>(a[t], queries(), group_ * Layout::kGroupRows + 16 * t, k);
      }
      TS_UNROLL
      for (int n = 0; n < kScoreTiles; n += 2) {
        unsigned b[4];
        load_b_rows<kUnits>(b, tile(stage), column_warp_ * Layout::kWarpTokens + 8 * n, k);
        TS_UNROLL
        for (int t = 0; t < kRowTiles; ++t) mma_twice(s[t][n], s[t][n + 1], a[t], b);
      }
    }
  }

  // Scales to units of log 2, masks tokens past the end, and stores the highest score of each row.
  __device__ __forceinline__ void leave_peaks(Scores& s, int first_token) const {
    float* exchange = shared_memory<float>(std::size_t{Layout::kExchange});
    const int first = first_token + column_warp_ * Layout::kWarpTokens + 2 * (lane_ % 4);
    for_each_row([&](int t, int upper, int row) {
      float peak = kMinusInfinity;
      TS_UNROLL
      for (int n = 0; n < kScoreTiles; ++n) {
        TS_UNROLL
        for (int i = 0; i < 2; ++i) {
          float& score = s[t][n][2 * upper + i];
          const bool beyond = Planted != Mistake::no_tail_mask && first + 8 * n + i >= end_;
          score = beyond ? kMinusInfinity : score * arguments_.scale_log2;
          peak = fmaxf(peak, score);
        }
      }
      peak = row_max(peak);
      if (lane_ % 4 == 0) exchange[column_warp_ * Layout::kRows + row] = peak;
    });
  }

  // Stores probabilities of this warp's tokens to shared memory, and rescales sums under a lower
  // peak.
  __device__ __forceinline__ void weigh(Scores& s) {
    const float* exchange = shared_memory<float>(std::size_t{Layout::kExchange});
    auto* probabilities =
        shared_memory<unsigned char>(std::size_t{Layout::kProbabilities}) + lane_ % 4 * 4;
    for_each_row([&](int t, int upper, int row) {
      float highest = highest_[t][upper];
      TS_UNROLL
      for (int c = 0; c < Layout::kColumnWarps; ++c) {
        highest = fmaxf(highest, exchange[c * Layout::kRows + row]);
      }
      const bool raised = highest > highest_[t][upper];
      if (__any_sync(kAllLanes, raised)) {
        const float before = exp2_fast(highest_[t][upper] - highest);
        weights_[t][upper] *= before;
        TS_UNROLL
        for (int n = 0; n < kValueTiles; ++n) {
          out_[t][n][2 * upper] *= before;
          out_[t][n][2 * upper + 1] *= before;
        }
        highest_[t][upper] = highest;
      }
      TS_UNROLL
      for (int n = 0; n < kScoreTiles; ++n) {
        const float p0 = exp2_fast(s[t][n][2 * upper] - highest);
        const float p1 = exp2_fast(s[t][n][2 * upper + 1] - highest);
        weights_[t][upper] += p0 + p1;
        const int unit = column_warp_ * kScoreTiles + n;
        *reinterpret_cast<unsigned*>(probabilities + swizzled<Layout::kTokens / 8>(row, unit)) =
            pack_bf16(p0, p1);
      }
    });
  }

  // Adds the tile's weighted values of this warp's columns.
  __device__ __forceinline__ void multiply_values(int stage) {
    const auto* probabilities = shared_memory<unsigned char>(std::size_t{Layout::kProbabilities});
    TS_UNROLL
    for (int k = 0; k < Layout::kTokens / 16; ++k) {
      unsigned a[std::size_t{kRowTiles}][4];
      TS_UNROLL
      for (int t = 0; t < kRowTiles; ++t) {
        load_a<Layout::kTokens / 8>(a[t], probabilities, group_ * Layout::kGroupRows + 16 * t, k);
      }
      TS_UNROLL
      for (int n = 0; n < kValueTiles; n += 2) {
        unsigned b[4];
        load_b_columns<Layout::kUnits>(b, tile(stage), 16 * k,
                                       column_warp_ * (Layout::kWarpColumns / 16) + n / 2);
        TS_UNROLL
        for (int t = 0; t < kRowTiles; ++t) mma_twice(out_[t][n], out_[t][n + 1], a[t], b);
      }
    }
  }

  __device__ __forceinline__ void store_row(int t, int upper, std::int64_t row, int rows,
                                            float weights) const {
    const DecodeResult& result = arguments_.result;
    const float scale = 1.0F / weights;  // in a block with tokens every row has a weight
    const int column = column_warp_ * Layout::kWarpColumns + 2 * (lane_ % 4);
    const bool split = gridDim.y > 1;
    const std::int64_t at = split ? std::int64_t{blockIdx.y} * rows + row : row;
    TS_UNROLL
    for (int n = 0; n < kValueTiles; ++n) {
      const float x = out_[t][n][2 * upper] * scale;
      const float y = out_[t][n][2 * upper + 1] * scale;
      const std::int64_t to = at * Layout::kLatent + column + 8 * n;
      if (split) {
        store(reinterpret_cast<float2*>(result.partial + to), float2{x, y});
      } else {
        store(reinterpret_cast<unsigned*>(result.out + to), pack_bf16(x, y));
      }
    }
    if (split && column == 0) {
      store(result.lse + at, (highest_[t][upper] + log2_fast(weights)) * kLn2);
    }
  }

  const LatentDecodeArguments& arguments_;
  int end_;  // of the block's tokens
  int lane_;
  int group_;
  int column_warp_;
  int copy_row_;
  int copy_unit_;
  float out_[std::size_t{kRowTiles}][std::size_t{kValueTiles}][4] = {};
  float highest_[std::size_t{kRowTiles}][2] = {};
  float weights_[std::size_t{kRowTiles}][2] = {};  // of this lane's tokens
};

// The result of a block without tokens.
template <class Layout>
__device__ __forceinline__ void store_no_tokens(const DecodeResult& result, std::int64_t first_row,
                                                int rows) {
  const int thread = static_cast<int>(threadIdx.x);
  if (gridDim.y > 1) {
    if (thread < Layout::kRows) {
      store(result.lse + std::int64_t{blockIdx.y} * rows + first_row + thread, kMinusInfinity);
    }
    return;
  }
  auto* out = reinterpret_cast<unsigned*>(result.out + first_row * Layout::kLatent);
  for (int i = thread; i < Layout::kRows * Layout::kLatent / 2; i += Layout::kThreads) {
    store(out + i, 0U);
  }
}

template <class Layout, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(Layout::kThreads, 1)
    latent_decode(const LatentDecodeArguments arguments) {
  constexpr int kStages = Layout::kStages;
  constexpr int kTokens = Layout::kTokens;
  const int heads = static_cast<int>(gridDim.x) * Layout::kRows;
  const int rows = static_cast<int>(gridDim.z) * heads;
  const std::int64_t first_row =
      std::int64_t{blockIdx.z} * heads + std::int64_t{blockIdx.x} * Layout::kRows;
  const TokenRange tokens =
      tokens_of_split(load(arguments.lengths + blockIdx.z), static_cast<int>(gridDim.y),
                      static_cast<int>(blockIdx.y), kTokens);
  if (tokens.begin >= tokens.end) {
    store_no_tokens<Layout>(arguments.result, first_row, rows);
    return;
  }
  LatentDecodeBlock<Layout, Planted> block(arguments, tokens.end);
  block.fetch_queries(first_row);
  for (int stage = 0; stage < kStages - 1; ++stage) {
    block.fetch(tokens.begin + stage * kTokens, stage);
  }
  int stage = 0;
  for (int token = tokens.begin; token < tokens.end; token += kTokens) {
    copy_async_wait<Planted == Mistake::copies_waited_late ? kStages - 1 : kStages - 2>();
    // All threads have this tile's copies, and no longer read the stage that is filled next.
    if constexpr (Planted != Mistake::no_barrier_before_tile) __syncthreads();
    const int before = stage == 0 ? kStages - 1 : stage - 1;
    block.fetch(token + (kStages - 1) * kTokens,
                Planted == Mistake::ring_overwritten ? stage : before);
    block.attend(token, stage);
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  copy_async_wait<0>();
  block.store_result(first_row, rows);
}

}  // namespace tiersim::kernels
