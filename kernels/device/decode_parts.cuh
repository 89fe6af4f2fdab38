// Common parts of the dense decode kernels: the token range of a block, and the join of the partial
// results of its warps.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

struct TokenRange {
  int begin, end;  // [begin, end)
};

// The tokens of one of `splits` parts of a sequence. Parts are whole tiles, except the last one.
__device__ __forceinline__ TokenRange tokens_of_split(int length, int splits, int split, int tile) {
  const int tiles = (length + tile - 1) / tile;
  const int tokens = (tiles + splits - 1) / splits * tile;
  const int begin = split * tokens;
  return {begin, min(length, begin + tokens)};
}

// Destination of a decode kernel's result. One split writes out [rows][D] bf16 only. More splits
// write partial [splits][rows][D] fp32 and lse [splits][rows] instead, for combine_splits.
struct DecodeResult {
  float* partial;
  float* lse;
  bf16* out;
};

// A warp's part in shared memory: Rows x D sums of weighted values, not normalised; then for each
// row the highest logit (in units of log 2) and the sum of weights.
template <int Rows, int D>
struct WarpPart {
  static constexpr int kHighest = Rows * D;  // in floats
  static constexpr int kWeights = kHighest + Rows;
  static constexpr int kBytes = 4 * (kWeights + Rows);
};

// Joins the parts of the block's warps for rows [first_row, first_row + Rows) of `rows`; part w is
// at shared byte w * part_stride. All threads call it after a barrier. A row without tokens is
// zero.
template <int Rows, int D>
__device__ __forceinline__ void join_warps(int part_stride, const DecodeResult& result, int rows,
                                           int first_row) {
  using Part = WarpPart<Rows, D>;
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  const auto part = [&](int w) { return shared_memory<float>(std::size_t(w * part_stride)); };
  for (int i = static_cast<int>(threadIdx.x); i < Rows * D; i += static_cast<int>(blockDim.x)) {
    const int row = i / D;
    float highest = kMinusInfinity;
    for (int w = 0; w < warps; ++w) highest = fmaxf(highest, part(w)[Part::kHighest + row]);
    float weights = 0;
    float sum = 0;
    for (int w = 0; w < warps && highest > kMinusInfinity; ++w) {
      const float factor = exp2_fast(part(w)[Part::kHighest + row] - highest);
      weights += part(w)[Part::kWeights + row] * factor;
      sum += part(w)[i] * factor;
    }
    const float value = weights > 0 ? sum / weights : 0.0F;
    if (gridDim.x == 1) {
      store(result.out + std::int64_t{first_row} * D + i, to_bf16(value));
      continue;
    }
    const std::int64_t at = std::int64_t{blockIdx.x} * rows + first_row;
    store(result.partial + at * D + i, value);
    if (i % D == 0) store(result.lse + at + row, (highest + log2_fast(weights)) * kLn2);
  }
}

// The result of a block without tokens.
template <int Rows, int D>
__device__ __forceinline__ void store_nothing(const DecodeResult& result, int rows, int first_row) {
  const int thread = static_cast<int>(threadIdx.x);
  if (gridDim.x > 1) {
    const std::int64_t at = std::int64_t{blockIdx.x} * rows + first_row;
    if (thread < Rows) store(result.lse + at + thread, kMinusInfinity);
    return;
  }
  for (int i = thread; i < Rows * D; i += static_cast<int>(blockDim.x)) {
    store(result.out + std::int64_t{first_row} * D + i, to_bf16(0.0F));
  }
}

}  // namespace tiersim::kernels
