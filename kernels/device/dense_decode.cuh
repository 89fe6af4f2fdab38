// Decode attention over the whole cache, one query head per key head (MHA), on the FMA units.
//
// Layouts  q [batch, heads, D] bf16; k, v [batch, heads, context, D] bf16; lengths [batch] int32, 0
//          to context. Result: see DecodeResult; rows are batch x heads.
// Launch   grid (splits, heads, batch), kThreads threads, kSharedBytes of shared memory.
// Approach split over the sequence (FlashDecoding) and, in the block, over its warps: each warp
//          takes every fourth tile of 16 tokens and joins the others at the end only. A row of 256
//          B is read by 16 lanes. Each lane copies with cp.async only the bytes that it reads
//          itself, so that the ring needs no barrier. The dot products of 8 rows are reduced
//          together; each step halves the values as well as the lanes (8 shuffles for 8 sums, not
//          32), which leaves one token and one exponential for each lane.
// Limiter  memory. An H200 brings about 19 B a clock and SM; 16 B a lane (512 B a warp) cost about
//          8 conversions, 8 FMAs, 1 shared load, 1 copy and 4 of reduction and softmax: 23 of the
//          108 issue slots that pass meanwhile. mma.sync would need fewer still (8, at 15 of 16
//          rows padding), but neither limits, and here the weights stay fp32.
// In flight one to Stages tiles of 8 KB a warp: 12 warps an SM (2 stages) or 8 (3 stages) hold 96
//          KB to 192 KB, where HBM needs 24 KB.
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/decode_parts.cuh"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

struct DenseArguments {
  const bf16* q;
  const bf16* k;
  const bf16* v;
  const int* lengths;
  int context;
  float scale_log2;  // of the logits, times log2(e)
  DecodeResult result;
};

template <int D, int Stages>
struct DenseDecodeLayout {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarp;
  static constexpr int kTileTokens = 16;                      // of a warp at a time
  static constexpr int kSplitTile = kTileTokens * kWarps;     // splits begin at multiples of this
  static constexpr int kRowLanes = D / 8;                     // 16 B a lane
  static constexpr int kRowsAtOnce = kWarp / kRowLanes;       // of one instruction
  static constexpr int kLoads = kTileTokens / kRowsAtOnce;    // of a lane, for K or V of a tile
  static constexpr int kTileBytes = 2 * D * kTileTokens;      // K or V
  static constexpr int kRingBytes = Stages * 2 * kTileBytes;  // of a warp
  static constexpr int kSharedBytes = kWarps * kRingBytes;
  static_assert(kLoads * 2 == kRowLanes, "the reduction leaves a token to two lanes");
  static_assert(WarpPart<1, D>::kBytes <= kRingBytes);
};

// Sums each of the Count values over the 2 Count lanes of a row; lane number r of a row gets sum r
// / 2.
template <std::size_t Count>
__device__ __forceinline__ float sum_transposed(float (&values)[Count], int row_lane) {
  TS_UNROLL
  for (int width = static_cast<int>(Count) / 2; width > 0; width /= 2) {
    const bool upper = (row_lane & 2 * width) != 0;
    TS_UNROLL
    for (int i = 0; i < width; ++i) {
      const float give = upper ? values[i] : values[i + width];
      const float keep = upper ? values[i + width] : values[i];
      values[i] = keep + __shfl_xor_sync(kAllLanes, give, 2 * width);
    }
  }
  return values[0] + __shfl_xor_sync(kAllLanes, values[0], 1);
}

template <int D, int Stages, Mistake Planted>
class DenseDecodeWarp {
  using Layout = DenseDecodeLayout<D, Stages>;

 public:
  __device__ __forceinline__ DenseDecodeWarp(const DenseArguments& arguments, std::int64_t row,
                                             int end)
      : lane_(lane_index()),
        end_(end),
        k_(arguments.k + row * arguments.context * D + 8 * lane_),
        v_(arguments.v + row * arguments.context * D + 8 * lane_) {
    const uint4 q = load(
        reinterpret_cast<const uint4*>(arguments.q + row * D + 8 * (lane_ % Layout::kRowLanes)));
    const unsigned pairs[4] = {q.x, q.y, q.z, q.w};
    TS_UNROLL
    for (int i = 0; i < 4; ++i) {
      q_[2 * i] = low_float(pairs[i]) * arguments.scale_log2;
      q_[2 * i + 1] = high_float(pairs[i]) * arguments.scale_log2;
    }
  }

  // Begins to copy a tile of tokens into a stage. Commits a group even where there is no tile.
  __device__ __forceinline__ void fetch(int first_token, int stage) {
    if (first_token < end_) {
      unsigned char* to = place(stage);
      TS_UNROLL
      for (int i = 0; i < Layout::kLoads; ++i) {
        const int token = first_token + i * Layout::kRowsAtOnce + lane_ / Layout::kRowLanes;
        const int valid = token < end_ ? 16 : 0;
        const std::int64_t at = std::int64_t{first_token + i * Layout::kRowsAtOnce} * D;
        copy_async(to + i * 512, k_ + at, valid);
        copy_async(to + Layout::kTileBytes + i * 512, v_ + at, valid);
      }
    }
    copy_async_commit();
  }

  __device__ __forceinline__ void attend(int first_token, int stage) {
    const float logit = score(first_token, stage);
    const float peak = fmaxf(highest_, warp_max(logit));
    if (peak > highest_) {  // the same in all lanes
      const float before = exp2_fast(highest_ - peak);
      highest_ = peak;
      weights_ *= before;
      TS_UNROLL
      for (float& o : out_) o *= before;
    }
    const float weight = exp2_fast(logit - highest_);
    weights_ += weight;
    add_values(weight, stage);
  }

  // Stores the warp's part at the start of its ring.
  __device__ __forceinline__ void leave_part() {
    auto* part = reinterpret_cast<float*>(ring());
    const float weights = warp_sum(weights_) / 2;  // two lanes hold each token
    TS_UNROLL
    for (int i = 0; i < 8; ++i) {
      TS_UNROLL
      for (int step = Layout::kRowLanes; step < kWarp; step *= 2) {
        out_[i] += __shfl_xor_sync(kAllLanes, out_[i], step);
      }
      if (lane_ < Layout::kRowLanes) part[8 * lane_ + i] = out_[i];
    }
    if (lane_ == 0) {
      part[WarpPart<1, D>::kHighest] = highest_;
      part[WarpPart<1, D>::kWeights] = weights;
    }
  }

 private:
  __device__ __forceinline__ unsigned char* ring() const {
    return shared_memory<unsigned char>(std::size_t(warp_index() * Layout::kRingBytes));
  }
  __device__ __forceinline__ unsigned char* place(int stage) const {
    return ring() + stage * 2 * Layout::kTileBytes + lane_ * 16;
  }

  // The logit of this lane's token; minus infinity past the end.
  __device__ __forceinline__ float score(int first_token, int stage) const {
    const unsigned char* from = place(stage);
    float sums[Layout::kLoads];
    TS_UNROLL
    for (int i = 0; i < Layout::kLoads; ++i) {
      const uint4 k = *reinterpret_cast<const uint4*>(from + i * 512);
      const unsigned pairs[4] = {k.x, k.y, k.z, k.w};
      sums[i] = 0;
      TS_UNROLL
      for (int j = 0; j < 4; ++j) {
        sums[i] = multiply_add(q_[2 * j], low_float(pairs[j]), sums[i]);
        sums[i] = multiply_add(q_[2 * j + 1], high_float(pairs[j]), sums[i]);
      }
    }
    const int row_lane = lane_ % Layout::kRowLanes;
    const float logit = sum_transposed(sums, row_lane);
    const int token = first_token + row_lane / 2 * Layout::kRowsAtOnce + lane_ / Layout::kRowLanes;
    if constexpr (Planted == Mistake::no_tail_mask) return logit;
    return token < end_ ? logit : kMinusInfinity;
  }

  __device__ __forceinline__ void add_values(float weight, int stage) {
    const unsigned char* from = place(stage) + Layout::kTileBytes;
    TS_UNROLL
    for (int i = 0; i < Layout::kLoads; ++i) {
      const uint4 v = *reinterpret_cast<const uint4*>(from + i * 512);
      const unsigned pairs[4] = {v.x, v.y, v.z, v.w};
      const float w =
          __shfl_sync(kAllLanes, weight, lane_ / Layout::kRowLanes * Layout::kRowLanes + 2 * i);
      TS_UNROLL
      for (int j = 0; j < 4; ++j) {
        out_[2 * j] = multiply_add(w, low_float(pairs[j]), out_[2 * j]);
        out_[2 * j + 1] = multiply_add(w, high_float(pairs[j]), out_[2 * j + 1]);
      }
    }
  }

  int lane_;
  int end_;  // of the block's tokens
  const bf16* k_;
  const bf16* v_;
  float q_[8];  // of this lane's columns, scaled
  float out_[8] = {};
  float highest_ = kMinusInfinity;
  float weights_ = 0;  // of this lane's tokens
};

template <int D, int Stages, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(128, 3) dense_decode(const DenseArguments arguments) {
  using Layout = DenseDecodeLayout<D, Stages>;
  const int heads = static_cast<int>(gridDim.y);
  const int row = static_cast<int>(blockIdx.z) * heads + static_cast<int>(blockIdx.y);
  const int rows = static_cast<int>(gridDim.z) * heads;
  const TokenRange tokens =
      tokens_of_split(load(arguments.lengths + blockIdx.z), static_cast<int>(gridDim.x),
                      static_cast<int>(blockIdx.x), Layout::kSplitTile);
  if (tokens.begin >= tokens.end) {
    store_nothing<1, D>(arguments.result, rows, row);
    return;
  }
  DenseDecodeWarp<D, Stages, Planted> warp(arguments, row, tokens.end);
  const int first = tokens.begin + warp_index() * Layout::kTileTokens;
  for (int stage = 0; stage < Stages; ++stage) {
    warp.fetch(first + stage * Layout::kSplitTile, stage);
  }
  int stage = 0;
  for (int token = first; token < tokens.end; token += Layout::kSplitTile) {
    copy_async_wait<Planted == Mistake::copies_waited_late ? Stages : Stages - 1>();
    warp.attend(token, stage);
    warp.fetch(token + Stages * Layout::kSplitTile, stage);
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }
  copy_async_wait<0>();
  __syncwarp();  // the part overlays ring bytes that other lanes may still read
  warp.leave_part();
  if constexpr (Planted != Mistake::no_barrier_before_join) __syncthreads();
  join_warps<1, D>(Layout::kRingBytes, arguments.result, rows, row);
}

}  // namespace tiersim::kernels
