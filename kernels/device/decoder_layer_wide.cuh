// The projections of decoder_layer.cuh for many tokens. With 64 tokens and more, blocks of 16 rows
// would load every token from L2 many times. Tiles of 64 rows x 64 tokens in TokenTile's ring load
// a fifth of that.
//
// Grid (rows / 64, tokens / 64 rounded up), 128 threads, WideLayout::kSharedBytes. For the factor
// of the RMS norm, two threads sum the squares of a token as the chunks arrive. The sums leave
// through shared memory, 16 B a store. Limited by L2 and by the small number of blocks: T5-base has
// 36 of them for the queries, keys and values of 64 tokens, a design estimate of 3 us.
#pragma once
#include "kernels/device/decoder_layer.cuh"
#include "kernels/device/token_tile.cuh"

namespace tiersim::kernels {

enum class Output { query_key_value, plain, residual, gated };

struct ProjectWide {
  Tokens from;
  const bf16* weights;  // [rows][depth]; gated: as for project_gated, with the rows of both parts
  const bf16* residual;
  bf16* out;  // the queries of query_key_value
  CacheAppend cache;
};

struct WideLayout {
  using Tile = TokenTile<64, 64>;
  static_assert(Tile::kThreads == 2 * Tile::kTokens);
  static constexpr int kStride = Tile::kRows + 4;  // fp32 from a token to the next
  static constexpr int kSums = Tile::kTokens * kStride;
  static constexpr int kOutBytes = 4 * (kSums + Tile::kTokens);  // sums, then a factor a token
  static constexpr int kSharedBytes = Tile::kRingBytes > kOutBytes ? Tile::kRingBytes : kOutBytes;
};

__device__ __forceinline__ void share_tile(const TileSums<WideLayout::Tile>& sums, float factor) {
  using Tile = WideLayout::Tile;
  auto* shared = shared_memory<float>();
  TS_UNROLL
  for (int half = 0; half < Tile::kHalves; ++half) {
    TS_UNROLL
    for (int column = 0; column < Tile::kColumns; ++column) {
      TS_UNROLL
      for (int i = 0; i < 4; ++i) {
        shared[Tile::token_of(column, i) * WideLayout::kStride + Tile::row_of(half, i)] =
            sums[half][column][i];
      }
    }
  }
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % 2 == 0) shared[WideLayout::kSums + thread / 2] = factor;
}

// Eight rows of a token from `row` of the tile on, times the factor of the token.
__device__ __forceinline__ void take_rows(float (&v)[8], int token, int row) {
  const float* shared = shared_memory<float>();
  const float factor = shared[WideLayout::kSums + token];
  const auto* from = reinterpret_cast<const float4*>(shared + token * WideLayout::kStride + row);
  TS_UNROLL
  for (int i = 0; i < 2; ++i) {
    const float4 four = from[i];
    v[4 * i] = four.x * factor;
    v[4 * i + 1] = four.y * factor;
    v[4 * i + 2] = four.z * factor;
    v[4 * i + 3] = four.w * factor;
  }
}

__device__ __forceinline__ uint4 pack_rows(const float (&v)[8]) {
  return make_uint4(pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]), pack_bf16(v[4], v[5]),
                    pack_bf16(v[6], v[7]));
}

// Destination of rows from `row` on of token `token`, in the whole output.
template <Output Kind>
__device__ __forceinline__ bf16* output_place(const ProjectWide& of, int token, int row, int rows) {
  if constexpr (Kind == Output::query_key_value) {
    const int inner = of.cache.heads * kHeadSize;
    const int which = row / inner;
    const int at = row - which * inner;
    if (which == 0) return of.out + static_cast<std::int64_t>(token) * inner + at;
    return (which == 1 ? of.cache.keys : of.cache.values) +
           cache_offset(of.cache, token, at, load(of.cache.positions + token));
  } else {
    return of.out + static_cast<std::int64_t>(token) * rows + row;
  }
}

template <Output Kind>
__device__ __forceinline__ void finish_tile(const ProjectWide& of, int first_row, int first_token) {
  using Tile = WideLayout::Tile;
  constexpr int kRows = Kind == Output::gated ? kGatedRows : Tile::kRows;  // of the output
  constexpr int kUnits = kRows / 8;
  const int rows = static_cast<int>(gridDim.x) * kRows;
  for (int at = static_cast<int>(threadIdx.x); at < kUnits * Tile::kTokens; at += Tile::kThreads) {
    const int token = at / kUnits;
    const int row = at % kUnits * 8;
    if (first_token + token >= of.from.count) break;
    float v[8];
    take_rows(v, token, row);
    if constexpr (Kind == Output::gated) {
      float linear[8];
      take_rows(linear, token, kGatedRows + row);
      TS_UNROLL
      for (int i = 0; i < 8; ++i) v[i] = gelu(v[i]) * linear[i];
    }
    const int out_row = first_row / Tile::kRows * kRows + row;
    if constexpr (Kind == Output::residual) {
      const std::int64_t from = static_cast<std::int64_t>(first_token + token) * rows + out_row;
      const uint4 before = load(reinterpret_cast<const uint4*>(of.residual + from));
      const unsigned words[4] = {before.x, before.y, before.z, before.w};
      TS_UNROLL
      for (int i = 0; i < 8; ++i)
        v[i] += i % 2 == 0 ? low_float(words[i / 2]) : high_float(words[i / 2]);
    }
    store(reinterpret_cast<uint4*>(output_place<Kind>(of, first_token + token, out_row, rows)),
          pack_rows(v));
  }
}

template <Output Kind, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(WideLayout::Tile::kThreads, WideLayout::Tile::kBlocks)
    project_wide(ProjectWide of) {
  using Tile = WideLayout::Tile;
  const int first_row = static_cast<int>(blockIdx.x) * Tile::kRows;
  const int first_token = static_cast<int>(blockIdx.y) * Tile::kTokens;
  const std::int64_t depth = of.from.depth;
  const TileOperands operands = {of.weights + first_row * depth,
                                 of.from.numbers + first_token * depth, Tile::kRows,
                                 of.from.count - first_token, of.from.depth};
  TileSums<Tile> sums;
  float factor = 1;
  if constexpr (Kind == Output::residual) {
    multiply_tile<Tile, Planted>(sums, operands);
  } else {
    float squares = 0;
    const int token = static_cast<int>(threadIdx.x) / 2;
    const int first_unit = Tile::kUnits / 2 * (static_cast<int>(threadIdx.x) % 2);
    multiply_tile<Tile, Planted>(sums, operands, [&squares, token, first_unit](const bf16* tokens) {
      TS_UNROLL
      for (int i = 0; i < Tile::kUnits / 2; ++i) {
        const uint4 v = *reinterpret_cast<const uint4*>(tokens + swizzled(token, first_unit + i));
        squares += square_sum(v.x) + square_sum(v.y) + square_sum(v.z) + square_sum(v.w);
      }
    });
    squares = warp_sum<2>(squares);
    factor = inverse_root(squares / static_cast<float>(of.from.depth) + of.from.epsilon);
  }
  share_tile(sums, factor);
  if constexpr (Planted != Mistake::no_vote_barrier) __syncthreads();
  finish_tile<Kind>(of, first_row, first_token);
}

}  // namespace tiersim::kernels
