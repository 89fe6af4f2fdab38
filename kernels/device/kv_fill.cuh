// Keys and values of all layers that a token has skipped, in one launch. The state at the exit is
// projected with each layer's weights and appended to each layer's caches (CALM, Schuster et al.
// 2022, section 3.1: the state is copied up).
//
//   weights [layers][2][inner][depth] bf16: keys, then values, the norm's gain folded in
//   state [tokens][depth] bf16; factor [tokens] fp32: of its RMS norm (residual_vote gives it)
//   caches  [layers][2][tokens][heads][capacity][64] bf16; positions [tokens] int32
//
// kv_fill: grid (inner / 16, 2 layers, tokens / 8 Columns), kSkinnyThreads threads; weights read
// once from HBM, straight into fragments. Limited by HBM: T5-base 2.36 MB, .55 us a layer, and
// for many tokens by every block's reads of them.
// kv_fill_wide: grid (tokens / Tokens, inner / Rows, 2 layers); TokenTile's ring, for more tokens.
// An H200 is faster with it from 32 tokens on for 6 and 11 layers (8.5 us instead of 10.3 for 6),
// and from 128 on for one layer.
#pragma once
#include "kernels/device/cache_append.cuh"
#include "kernels/device/skinny_product.cuh"
#include "kernels/device/token_tile.cuh"

namespace tiersim::kernels {

struct KvFill {
  const bf16* weights;
  const bf16* state;
  const float* factor;
  int tokens;
  int depth;
  int inner;          // heads x 64
  CacheAppend cache;  // keys of the first skipped layer, which the others follow; values unused
};

// The cache of matrix `matrix` (2 layer + 0 for keys, 1 for values).
__device__ __forceinline__ bf16* fill_cache(const KvFill& of, int matrix) {
  return of.cache.keys +
         static_cast<std::int64_t>(matrix) * of.tokens * of.inner * of.cache.capacity;
}
__device__ __forceinline__ const bf16* fill_weights(const KvFill& of, int matrix, int row) {
  return of.weights + (static_cast<std::int64_t>(matrix) * of.inner + row) * of.depth;
}

template <int Columns, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kSkinnyThreads, Columns == 4 ? 2 : 3) kv_fill(KvFill of) {
  const int first_row = static_cast<int>(blockIdx.x) * kSkinnyRows;
  const int matrix = static_cast<int>(blockIdx.y);
  const int first_token = static_cast<int>(blockIdx.z) * 8 * Columns;
  const int left = of.tokens - first_token;
  skinny_product<false, 1, Columns, Planted>(
      {{fill_weights(of, matrix, first_row)},
       of.state + static_cast<std::int64_t>(first_token) * of.depth,
       left,
       of.depth});
  bf16* cache = fill_cache(of, matrix);
  over_skinny_pairs<Columns>(left, [&](int token, int row) {
    const int t = first_token + token;
    const float factor = load(of.factor + t);
    const float2 sum = skinny_sum<1, Columns>(0, token, row);
    const std::int64_t at =
        cache_offset(of.cache, t, first_row + row, load(of.cache.positions + t));
    store(reinterpret_cast<unsigned*>(cache + at), pack_bf16(sum.x * factor, sum.y * factor));
  });
}

// The sums of a tile as bf16 [token][row] in shared memory, so that rows of a token are stored
// together.
template <class Tile>
struct FillLayout {
  static constexpr int kStride = Tile::kRows + 8;  // numbers from a token to the next
  static constexpr int kOutBytes = 2 * Tile::kTokens * kStride;
  static constexpr int kSharedBytes = Tile::kRingBytes > kOutBytes ? Tile::kRingBytes : kOutBytes;
};

template <int Rows, int Tokens, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(TokenTile<Rows, Tokens>::kThreads,
                                  TokenTile<Rows, Tokens>::kBlocks) kv_fill_wide(KvFill of) {
  using Tile = TokenTile<Rows, Tokens>;
  using Layout = FillLayout<Tile>;
  const int first_token = static_cast<int>(blockIdx.x) * Tokens;
  const int first_row = static_cast<int>(blockIdx.y) * Rows;
  const int matrix = static_cast<int>(blockIdx.z);
  // Factors and positions are loaded before the product, which hides their latency.
  float factor[std::size_t{Tile::kColumns}][2];
  TS_UNROLL
  for (int column = 0; column < Tile::kColumns; ++column) {
    TS_UNROLL
    for (int j = 0; j < 2; ++j) {
      const int token = first_token + Tile::token_of(column, j);
      factor[column][j] = token < of.tokens ? load(of.factor + token) : 0;
    }
  }
  constexpr int kUnits = Rows / 8;
  constexpr int kPasses = kUnits * Tokens / Tile::kThreads;
  static_assert(kPasses * Tile::kThreads == kUnits * Tokens);
  const int row = static_cast<int>(threadIdx.x) % kUnits * 8;
  const auto token_in = [](int pass) {
    return (pass * Tile::kThreads + static_cast<int>(threadIdx.x)) / kUnits;
  };
  const auto is_stored = [&](int pass) {
    return first_token + token_in(pass) < of.tokens && first_row + row < of.inner;
  };
  int position[std::size_t{kPasses}];
  TS_UNROLL
  for (int pass = 0; pass < kPasses; ++pass) {
    const int token = first_token + token_in(pass);
    position[pass] = is_stored(pass) ? load(of.cache.positions + token) : 0;
  }
  TileSums<Tile> sums;
  multiply_tile<Tile, Planted>(sums, {fill_weights(of, matrix, first_row),
                                      of.state + static_cast<std::int64_t>(first_token) * of.depth,
                                      of.inner - first_row, of.tokens - first_token, of.depth});
  auto* out = shared_memory<bf16>();
  TS_UNROLL
  for (int column = 0; column < Tile::kColumns; ++column) {
    TS_UNROLL
    for (int j = 0; j < 2; ++j) {
      const int token = Tile::token_of(column, j);
      TS_UNROLL
      for (int r = 0; r < 2 * Tile::kHalves; ++r) {
        const int i = 2 * (r % 2) + j;
        out[token * Layout::kStride + Tile::row_of(r / 2, i)] =
            to_bf16(sums[r / 2][column][i] * factor[column][j]);
      }
    }
  }
  if constexpr (Planted != Mistake::no_vote_barrier) __syncthreads();
  bf16* cache = fill_cache(of, matrix);
  TS_UNROLL
  for (int pass = 0; pass < kPasses; ++pass) {
    if (!is_stored(pass)) continue;
    const int token = token_in(pass);
    const std::int64_t to =
        cache_offset(of.cache, first_token + token, first_row + row, position[pass]);
    store(reinterpret_cast<uint4*>(cache + to),
          *reinterpret_cast<const uint4*>(out + token * Layout::kStride + row));
  }
}

}  // namespace tiersim::kernels
