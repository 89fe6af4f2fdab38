// Decode attention over the whole cache where Group query heads share a key head (GQA), on mma.sync
// with the heads of a group as rows.
//
// Layouts  q [batch, kv_heads Group, D] bf16, the heads of a group together; k, v [batch, kv_heads,
//          context, D] bf16; lengths [batch] int32, 0 to context. Result: see DecodeResult; rows
//          are batch x kv_heads x Group.
// Launch   grid (splits, kv_heads, batch), kThreads threads, kSharedBytes of shared memory.
// Approach as dense_decode: each warp has its own ring and every fourth tile of 16 tokens, and the
//          warps are joined only at the end. The queries stay in registers. Rows beyond a group
//          below 16 are padding: issued FLOPs are 16 / Group times those needed.
// Limiter  memory. A tile (8 KB) takes 32 mma (52 of the 430 clocks that an SM of an H200 needs to
//          fetch it), 16 ldmatrix and 16 copies.
// In flight as dense_decode: 96 KB an SM and more.
#pragma once
#include "kernels/device/dense_decode.cuh"
#include "kernels/device/matrix_tile.cuh"

namespace tiersim::kernels {

template <int D, int Group, int Stages>
struct GqaDecodeLayout {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarp;
  static constexpr int kTileTokens = 16;  // of a warp at a time
  static constexpr int kSplitTile = kTileTokens * kWarps;
  static constexpr int kUnits = D / 8;                         // 16 B units of a row
  static constexpr int kLoads = kTileTokens * kUnits / kWarp;  // of a lane, for K or V of a tile
  static constexpr int kTileBytes = 2 * D * kTileTokens;       // K or V
  static constexpr int kRingBytes = Stages * 2 * kTileBytes;   // of a warp
  static constexpr int kSharedBytes = kWarps * kRingBytes;
  static constexpr int kHalves = Group > 8 ? 2 : 1;  // number of 8-row halves of a product in use
  static_assert(Group >= 1 && Group <= 16);
  static_assert(WarpPart<Group, D>::kBytes <= kRingBytes);
};

template <int D, int Group, int Stages, Mistake Planted>
class GqaDecodeWarp {
  using Layout = GqaDecodeLayout<D, Group, Stages>;

 public:
  // row: of the group's first query head among all; kv_row: of its key head.
  __device__ __forceinline__ GqaDecodeWarp(const DenseArguments& arguments, std::int64_t kv_row,
                                           int end)
      : lane_(lane_index()),
        end_(end),
        scale_(arguments.scale_log2),
        k_(arguments.k + kv_row * arguments.context * D + 8 * lane_),
        v_(arguments.v + kv_row * arguments.context * D + 8 * lane_) {
    const bf16* q = arguments.q + kv_row * Group * D + 2 * (lane_ % 4);
    TS_UNROLL
    for (int k = 0; k < D / 16; ++k) {
      TS_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int row = lane_ / 4 + i % 2 * 8;
        const int column = 16 * k + i / 2 * 8;
        q_[k][i] = i % 2 < Layout::kHalves && row < Group
                       ? load(reinterpret_cast<const unsigned*>(q + row * D + column))
                       : 0;
      }
    }
  }

  // Begins to copy a tile of tokens into a stage. Commits a group even where there is no tile.
  __device__ __forceinline__ void fetch(int first_token, int stage) {
    if (first_token < end_) {
      unsigned char* to = place(stage);
      const std::int64_t at = std::int64_t{first_token} * D;
      const int row = lane_ / Layout::kUnits;
      TS_UNROLL
      for (int i = 0; i < Layout::kLoads; ++i) {
        constexpr int kRows = kWarp / Layout::kUnits;  // at once
        const int valid = first_token + i * kRows + row < end_ ? 16 : 0;
        const int offset = swizzled<Layout::kUnits>(i * kRows + row, lane_ % Layout::kUnits);
        copy_async(to + offset, k_ + (at + i * kRows * D), valid);
        copy_async(to + Layout::kTileBytes + offset, v_ + (at + i * kRows * D), valid);
      }
    }
    copy_async_commit();
  }

  __device__ __forceinline__ void attend(int first_token, int stage) {
    __syncwarp();  // for the copies of the other lanes
    float s[2][4] = {};
    TS_UNROLL
    for (int k = 0; k < D / 16; ++k) {
      unsigned b[4];
      load_b_rows<Layout::kUnits>(b, place(stage), 0, k);
      mma_twice(s[0], s[1], q_[k], b);
    }
    mask(s, first_token);
    rescale(s);
    // The accumulators of the scores have the layout of the first operand of the values' product.
    unsigned p[4];
    TS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int half = i % 2;
      p[i] = 0;
      if (half >= Layout::kHalves) continue;
      float* pair = &s[i / 2][2 * half];
      pair[0] = exp2_fast(pair[0] - highest_[half]);
      pair[1] = exp2_fast(pair[1] - highest_[half]);
      weights_[half] += pair[0] + pair[1];
      p[i] = pack_bf16(pair[0], pair[1]);
    }
    TS_UNROLL
    for (int n = 0; n < D / 16; ++n) {
      unsigned b[4];
      load_b_columns<Layout::kUnits>(b, place(stage) + Layout::kTileBytes, 0, n);
      mma_twice(out_[2 * n], out_[2 * n + 1], p, b);
    }
    // All lanes must have read before any of them copies again.
    if constexpr (Planted != Mistake::no_barrier_before_refill) __syncwarp();
  }

  // Stores the warp's part at the start of its ring.
  __device__ __forceinline__ void leave_part() {
    using Part = WarpPart<Group, D>;
    auto* part = reinterpret_cast<float*>(place(0));
    TS_UNROLL
    for (int half = 0; half < Layout::kHalves; ++half) {
      const float weights = row_sum(weights_[half]);
      const int row = lane_ / 4 + 8 * half;
      if (row >= Group) continue;
      TS_UNROLL
      for (int n = 0; n < D / 8; ++n) {
        float* at = part + row * D + 8 * n + 2 * (lane_ % 4);
        at[0] = out_[n][2 * half];
        at[1] = out_[n][2 * half + 1];
      }
      if (lane_ % 4 == 0) {
        part[Part::kHighest + row] = highest_[half];
        part[Part::kWeights + row] = weights;
      }
    }
  }

 private:
  __device__ __forceinline__ unsigned char* place(int stage) const {
    return shared_memory<unsigned char>(
        std::size_t(warp_index() * Layout::kRingBytes + stage * 2 * Layout::kTileBytes));
  }

  // Scales to units of log 2; minus infinity past the end.
  __device__ __forceinline__ void mask(float (&s)[2][4], int first_token) const {
    TS_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int token = first_token + i / 4 * 8 + 2 * (lane_ % 4) + i % 2;
      const bool beyond = Planted != Mistake::no_tail_mask && token >= end_;
      s[i / 4][i % 4] = beyond ? kMinusInfinity : s[i / 4][i % 4] * scale_;
    }
  }

  // Raises the highest logit of each row and rescales the sums under the old one.
  __device__ __forceinline__ void rescale(const float (&s)[2][4]) {
    float before[2] = {1, 1};
    bool raised = false;
    TS_UNROLL
    for (int half = 0; half < Layout::kHalves; ++half) {
      const int i = 2 * half;
      const float peak = row_max(fmaxf(fmaxf(s[0][i], s[0][i + 1]), fmaxf(s[1][i], s[1][i + 1])));
      const float highest = fmaxf(highest_[half], peak);
      raised = raised || highest > highest_[half];
      before[half] = exp2_fast(highest_[half] - highest);
      highest_[half] = highest;
      weights_[half] *= before[half];
    }
    if (!__any_sync(kAllLanes, raised)) return;
    TS_UNROLL
    for (int n = 0; n < D / 8; ++n) {
      TS_UNROLL
      for (int j = 0; j < 2 * Layout::kHalves; ++j) out_[n][j] *= before[j / 2];
    }
  }

  int lane_;
  int end_;  // of the block's tokens
  float scale_;
  const bf16* k_;  // from this lane's 16 bytes of a tile
  const bf16* v_;
  unsigned q_[std::size_t{D} / 16][4];
  float out_[std::size_t{D} / 8][4] = {};
  float highest_[2] = {kMinusInfinity, kMinusInfinity};
  float weights_[2] = {0, 0};  // of this lane's tokens
};

template <int D, int Group, int Stages, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(128, 3) gqa_decode(const DenseArguments arguments) {
  using Layout = GqaDecodeLayout<D, Group, Stages>;
  const int kv_heads = static_cast<int>(gridDim.y);
  const int kv_row = static_cast<int>(blockIdx.z) * kv_heads + static_cast<int>(blockIdx.y);
  const int rows = static_cast<int>(gridDim.z) * kv_heads * Group;
  const TokenRange tokens =
      tokens_of_split(load(arguments.lengths + blockIdx.z), static_cast<int>(gridDim.x),
                      static_cast<int>(blockIdx.x), Layout::kSplitTile);
  if (tokens.begin >= tokens.end) {
    store_nothing<Group, D>(arguments.result, rows, kv_row * Group);
    return;
  }
  GqaDecodeWarp<D, Group, Stages, Planted> warp(arguments, kv_row, tokens.end);
  const int first = tokens.begin + warp_index() * Layout::kTileTokens;
  for (int stage = 0; stage < Stages; ++stage) {
    warp.fetch(first + stage * Layout::kSplitTile, stage);
  }
  int stage = 0;
  for (int token = first; token < tokens.end; token += Layout::kSplitTile) {
    copy_async_wait<Planted == Mistake::copies_waited_late ? Stages : Stages - 1>();
    const int next = token + Stages * Layout::kSplitTile;
    if constexpr (Planted == Mistake::ring_overwritten) warp.fetch(next, stage);
    warp.attend(token, stage);
    if constexpr (Planted != Mistake::ring_overwritten) warp.fetch(next, stage);
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }
  copy_async_wait<0>();
  __syncwarp();
  warp.leave_part();
  if constexpr (Planted != Mistake::no_barrier_before_join) __syncthreads();
  join_warps<Group, D>(Layout::kRingBytes, arguments.result, rows, kv_row * Group);
}

}  // namespace tiersim::kernels
