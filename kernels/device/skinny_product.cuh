// Products of a weight matrix with a few tokens, where the weights are the traffic: 16 weight rows
// a block, the k dimension split over its 8 warps, mma.sync with the tokens as the n side.
//
//   weights [rows][depth] bf16, tokens [tokens][depth] bf16; depth a multiple of 32, rows of 16
//
// Shared memory is not used for staging, since no two warps of a block need the same byte. A lane
// loads 16 B of a row and uses them as four consecutive fragments: the order of k within a product
// is free as long as both operands use the same. 32 numbers of k thus make two mma of 16, and every
// sector is used in full. With depth 768 a warp has three steps and all its loads are in flight at
// once: the block's whole 24 KB of weights, three blocks a multiprocessor. The warps' sums meet in
// shared memory.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/mma.cuh"

namespace tiersim::kernels {

constexpr int kSkinnyWarps = 8;
constexpr int kSkinnyThreads = kWarp * kSkinnyWarps;
constexpr int kSkinnyRows = 16;
constexpr int kSkinnyStep = 32;  // numbers of k in one step of a warp

// Matrices: number multiplied with the same tokens, row by row. Columns: groups of 8 tokens.
template <int Matrices, int Columns>
struct SkinnyTile {
  static constexpr std::size_t kMatrices{Matrices};
  static constexpr std::size_t kColumns{Columns};
  static constexpr int kTokens = 8 * Columns;
  // Steps of a warp with loads in flight at once; each takes 4 (2 Matrices + Columns) registers.
  static constexpr int kAhead = Columns > 2 ? 2 : 3;
  static constexpr int kStride = 20;  // fp32 from a token to the next: no bank conflicts
  static constexpr int kPart = Matrices * kTokens * kStride;  // fp32 of a warp
  static constexpr int kSquares = kSkinnyWarps * kPart;       // fp32 before the sums of squares
  static constexpr int kSharedBytes = 4 * (kSquares + kSkinnyWarps * kTokens);
  static constexpr int kBytesInFlight = kSkinnyThreads * kAhead * 16 * 2 * Matrices;  // of weights

  float sums[kMatrices][kColumns][4];
  float squares[kColumns];  // of this lane's numbers of the tokens
};

template <int Matrices>
struct SkinnyOperands {
  const bf16* weights[std::size_t{Matrices}];  // from the block's first row on
  const bf16* tokens;                          // from the block's first token on
  int tokens_left;
  int depth;
};

template <int Matrices, int Columns>
struct SkinnyStep {
  uint4 weights[std::size_t{Matrices}][2];
  uint4 tokens[std::size_t{Columns}];
};

template <int Matrices, int Columns, Mistake Planted>
__device__ __forceinline__ void load_skinny(SkinnyStep<Matrices, Columns>& step,
                                            const SkinnyOperands<Matrices>& of, int number) {
  const int group = lane_index() / 4;
  const int k = kSkinnyStep * number + 8 * (lane_index() % 4);
  TS_UNROLL
  for (int m = 0; m < Matrices; ++m) {
    TS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = group + (Planted == Mistake::wrong_row_half ? 0 : 8 * half);
      step.weights[m][half] =
          load_streaming(reinterpret_cast<const uint4*>(of.weights[m] + row * of.depth + k));
    }
  }
  TS_UNROLL
  for (int c = 0; c < Columns; ++c) {
    const int token = 8 * c + group;
    step.tokens[c] = make_uint4(0, 0, 0, 0);
    if (token < of.tokens_left) {
      step.tokens[c] = load(reinterpret_cast<const uint4*>(of.tokens + token * of.depth + k));
    }
  }
}

__device__ __forceinline__ float square_sum(unsigned pair) {
  return low_float(pair) * low_float(pair) + high_float(pair) * high_float(pair);
}

template <bool Squares, int Matrices, int Columns>
__device__ __forceinline__ void multiply_skinny(SkinnyTile<Matrices, Columns>& tile,
                                                const SkinnyStep<Matrices, Columns>& step) {
  TS_UNROLL
  for (int c = 0; c < Columns; ++c) {
    const uint4& t = step.tokens[c];
    const unsigned first[2] = {t.x, t.y};
    const unsigned second[2] = {t.z, t.w};
    TS_UNROLL
    for (int m = 0; m < Matrices; ++m) {
      const uint4& low = step.weights[m][0];
      const uint4& high = step.weights[m][1];
      mma(tile.sums[m][c], {low.x, high.x, low.y, high.y}, first);
      mma(tile.sums[m][c], {low.z, high.z, low.w, high.w}, second);
    }
    if constexpr (Squares) {
      tile.squares[c] += square_sum(t.x) + square_sum(t.y) + square_sum(t.z) + square_sum(t.w);
    }
  }
}

// Stores each warp's sums to shared memory; after a barrier, call skinny_sum and skinny_factor.
template <bool Squares, int Matrices, int Columns, Mistake Planted>
__device__ __forceinline__ void share_skinny(const SkinnyTile<Matrices, Columns>& tile) {
  using Tile = SkinnyTile<Matrices, Columns>;
  float* part = shared_memory<float>() + warp_index() * Tile::kPart;
  TS_UNROLL
  for (int c = 0; c < Columns; ++c) {
    TS_UNROLL
    for (int m = 0; m < Matrices; ++m) {
      TS_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int token = 8 * c + 2 * (lane_index() % 4) + i % 2;
        const int row = lane_index() / 4 + 8 * (i / 2);
        part[(m * Tile::kTokens + token) * Tile::kStride + row] = tile.sums[m][c][i];
      }
    }
    if constexpr (Squares) {
      const float squares = warp_sum<4>(tile.squares[c]);
      float* all = shared_memory<float>() + Tile::kSquares + warp_index() * Tile::kTokens;
      if (lane_index() % 4 == 0) all[8 * c + lane_index() / 4] = squares;
    }
  }
  if constexpr (Planted != Mistake::no_vote_barrier) __syncthreads();
}

template <bool Squares, int Matrices, int Columns, Mistake Planted = Mistake::none>
__device__ __forceinline__ void skinny_product(const SkinnyOperands<Matrices>& of) {
  using Tile = SkinnyTile<Matrices, Columns>;
  Tile tile = {};
  const int steps = of.depth / kSkinnyStep;
  TS_NO_UNROLL
  for (int first = warp_index(); first < steps; first += kSkinnyWarps * Tile::kAhead) {
    SkinnyStep<Matrices, Columns> step[std::size_t{Tile::kAhead}];
    TS_UNROLL
    for (int i = 0; i < Tile::kAhead; ++i) {
      if (first + i * kSkinnyWarps < steps) {
        load_skinny<Matrices, Columns, Planted>(step[i], of, first + i * kSkinnyWarps);
      }
    }
    TS_UNROLL
    for (int i = 0; i < Tile::kAhead; ++i) {
      if (first + i * kSkinnyWarps < steps) multiply_skinny<Squares>(tile, step[i]);
    }
  }
  share_skinny<Squares, Matrices, Columns, Planted>(tile);
}

// Sums of rows `row` and `row` + 1 (even) of the block's 16, for one of its tokens.
template <int Matrices, int Columns>
__device__ __forceinline__ float2 skinny_sum(int matrix, int token, int row) {
  using Tile = SkinnyTile<Matrices, Columns>;
  const float* part =
      shared_memory<float>() + (matrix * Tile::kTokens + token) * Tile::kStride + row;
  float2 sum = {0, 0};
  TS_UNROLL
  for (int warp = 0; warp < kSkinnyWarps; ++warp) {
    const auto mine = *reinterpret_cast<const float2*>(part + warp * Tile::kPart);
    sum.x += mine.x;
    sum.y += mine.y;
  }
  return sum;
}

// 1 / sqrt(mean square + epsilon) of a token: the factor of its RMS norm.
template <int Matrices, int Columns>
__device__ __forceinline__ float skinny_factor(int token, int depth, float epsilon) {
  using Tile = SkinnyTile<Matrices, Columns>;
  float sum = 0;
  TS_UNROLL
  for (int warp = 0; warp < kSkinnyWarps; ++warp) {
    sum += shared_memory<float>()[Tile::kSquares + warp * Tile::kTokens + token];
  }
  return inverse_root(sum / static_cast<float>(depth) + epsilon);
}

// Calls each(token, row) for every pair of rows of every existing token of the block, one thread
// for each pair; token and row count from the first of the block.
template <int Columns, class Each>
__device__ __forceinline__ void over_skinny_pairs(int tokens_left, Each each) {
  constexpr int kPairs = 8 * Columns * (kSkinnyRows / 2);
  for (int pair = static_cast<int>(threadIdx.x); pair < kPairs; pair += kSkinnyThreads) {
    const int token = pair / (kSkinnyRows / 2);
    if (token < tokens_left) each(token, 2 * (pair % (kSkinnyRows / 2)));
  }
}

}  // namespace tiersim::kernels
