// A tile of weight rows times a tile of tokens, by mma.sync with the tokens as the n side. The head
// and the wide fill of the caches use it.
//
//   sums[row][token] = sum over k of weights[row][k] tokens[token][k]
//
// Both operands stream through one cp.async ring in chunks of 64 numbers along k (128 B a row, the
// 16 B units of a row exchanged by its number, so that ldmatrix meets no bank conflict). One
// barrier a chunk. Each A fragment serves all tokens of its warp and each B fragment all its rows.
//
// From 128 rows x 64 tokens on a warp holds 64 rows x 32 or 64 tokens, since shared-memory reads
// would otherwise take longer than the tensor cores. Tiles of 64 rows are for few blocks, where the
// latency of a chunk counts: their warps hold at most 32 tokens, so that two, four or eight warps
// share a chunk. The ring takes what lets two blocks run on a multiprocessor of sm_90 (one block
// where the tile has more than 128 rows): with 128 rows and 8 tokens 5 x 16 KB of weights are in
// flight a block.
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/mma.cuh"

namespace tiersim::kernels {

constexpr int min_of(int a, int b) {
  return a < b ? a : b;
}

template <int Rows, int Tokens>
struct TokenTile {
  static_assert(Tokens == 8 || Tokens == 16 || Tokens == 32 || Tokens == 64 || Tokens == 128);
  static constexpr int kRows = Rows;
  static constexpr int kTokens = Tokens;
  static constexpr int kChunk = 64;  // numbers of k in a stage
  static constexpr int kUnits = 8;   // of 16 B in a row of a stage
  static constexpr int kWarpRows = Rows >= 128 && Tokens >= 64 ? 64 : 32;
  static constexpr int kWarpTokens = Rows >= 128 ? (Tokens == 64 ? 32 : min_of(Tokens, 64))
                                                 : (Tokens == 32 ? 16 : min_of(Tokens, 32));
  static_assert(Rows % kWarpRows == 0);
  static constexpr int kRowWarps = Rows / kWarpRows;
  static constexpr int kTokenWarps = Tokens / kWarpTokens;
  static constexpr int kHalves = kWarpRows / 16;    // m tiles of a warp
  static constexpr int kColumns = kWarpTokens / 8;  // n tiles of a warp
  static constexpr int kThreads = kWarp * kRowWarps * kTokenWarps;
  static constexpr int kBlocks = Rows > 128 ? 1 : 2;  // least a multiprocessor: __launch_bounds__
  static constexpr int kStageNumbers = (Rows + Tokens) * kChunk;
  // Bytes of the ring at most. 163 KB are what a block of sm_80 can have; narrow tiles of 64 rows
  // leave room for four blocks.
  static constexpr int kRingLimit =
      1024 * (Rows > 128 ? 163 : (Rows < 128 && Tokens <= 16 ? 56 : 112));
  static constexpr int kStages = min_of(8, kRingLimit / (2 * kStageNumbers));
  static_assert(kStages > 2);
  static constexpr int kRingBytes = kStages * kStageNumbers * 2;
  static constexpr int kWeightBytesInFlight = (kStages - 1) * Rows * kChunk * 2;

  static __device__ __forceinline__ int row_warp() { return warp_index() % kRowWarps; }
  static __device__ __forceinline__ int token_warp() { return warp_index() / kRowWarps; }
  // Row and token of a lane's number i (0..3) in m tile `half` and n tile `column`.
  static __device__ __forceinline__ int row_of(int half, int i) {
    return kWarpRows * row_warp() + 16 * half + 8 * (i / 2) + lane_index() / 4;
  }
  static __device__ __forceinline__ int token_of(int column, int i) {
    return kWarpTokens * token_warp() + 8 * column + 2 * (lane_index() % 4) + i % 2;
  }
};

// The two operands from their first row in the tile on; `depth` numbers a row, a multiple of 8.
// rows_left, tokens_left: number of existing rows from there.
struct TileOperands {
  const bf16* weights;
  const bf16* tokens;
  int rows_left;
  int tokens_left;
  int depth;
};

template <class Tile>
using TileSums = float[Tile::kHalves][Tile::kColumns][4];

__device__ __forceinline__ int swizzled(int row, int unit) {
  return row * 64 + (unit ^ (row & 7)) * 8;
}

// Copies numbers k .. k + 63 of `Rows` rows into a stage; rows that do not exist become zeros.
template <class Tile, int Rows>
__device__ __forceinline__ void load_tile_rows(bf16* to, const bf16* from, int rows_left, int k,
                                               int depth) {
  constexpr int kPass = Tile::kThreads / Tile::kUnits;
  const int unit = static_cast<int>(threadIdx.x) % Tile::kUnits;
  const int first = static_cast<int>(threadIdx.x) / Tile::kUnits;
  const bool column_exists = k + 8 * unit < depth;
  TS_UNROLL
  for (int pass = 0; pass < (Rows + kPass - 1) / kPass; ++pass) {
    const int row = first + pass * kPass;
    if (Rows % kPass != 0 && row >= Rows) break;
    const bool exists = column_exists && row < rows_left;
    copy_async(to + swizzled(row, unit), exists ? from + row * depth + k + 8 * unit : from,
               exists ? 16 : 0);
  }
}

template <class Tile>
__device__ __forceinline__ void load_chunk(const TileOperands& of, int chunk, int slot) {
  bf16* stage = shared_memory<bf16>() + slot * Tile::kStageNumbers;
  const int k = chunk * Tile::kChunk;
  load_tile_rows<Tile, Tile::kRows>(stage, of.weights, of.rows_left, k, of.depth);
  load_tile_rows<Tile, Tile::kTokens>(stage + Tile::kRows * Tile::kChunk, of.tokens, of.tokens_left,
                                      k, of.depth);
}

template <class Tile>
__device__ __forceinline__ void multiply_chunk(TileSums<Tile>& sums, int slot) {
  const bf16* weights = shared_memory<bf16>() + slot * Tile::kStageNumbers;
  const bf16* tokens = weights + Tile::kRows * Tile::kChunk;
  const int matrix = lane_index() / 8;
  const int row = Tile::kWarpRows * Tile::row_warp() + lane_index() % 8 + 8 * (matrix % 2);
  const int token = Tile::kWarpTokens * Tile::token_warp() + lane_index() % 8;
  TS_UNROLL
  for (int step = 0; step < Tile::kChunk / 16; ++step) {
    unsigned a[Tile::kHalves][4];
    TS_UNROLL
    for (int half = 0; half < Tile::kHalves; ++half) {
      load_matrix<false>(a[half], weights + swizzled(row + 16 * half, 2 * step + matrix / 2));
    }
    TS_UNROLL
    for (int column = 0; column < Tile::kColumns; column += 2) {
      unsigned b[2][2];
      if constexpr (Tile::kColumns == 1) {
        load_matrix<false>(b[0], tokens + swizzled(token, 2 * step + matrix % 2));
      } else {
        unsigned both[4];
        load_matrix<false>(
            both, tokens + swizzled(token + 8 * (column + matrix / 2), 2 * step + matrix % 2));
        TS_UNROLL
        for (int i = 0; i < 4; ++i) b[i / 2][i % 2] = both[i];
      }
      TS_UNROLL
      for (int i = 0; i < (Tile::kColumns == 1 ? 1 : 2); ++i) {
        TS_UNROLL
        for (int half = 0; half < Tile::kHalves; ++half) {
          mma(sums[half][column + i], a[half], b[i]);
        }
      }
    }
  }
}

struct NothingMore {
  __device__ __forceinline__ void operator()(const bf16*) const {}
};

// Multiplies over all of k. Ends with a barrier, so that the ring is free for other uses. `more` is
// called with the tokens of every chunk ([Tokens][64], swizzled).
template <class Tile, Mistake Planted = Mistake::none, class More = NothingMore>
__device__ __forceinline__ void multiply_tile(TileSums<Tile>& sums, const TileOperands& of,
                                              More more = {}) {
  constexpr int kAhead = Tile::kStages - 1;
  constexpr int kLeft = Planted == Mistake::copies_waited_late ? kAhead : kAhead - 1;
  const int chunks = (of.depth + Tile::kChunk - 1) / Tile::kChunk;
  TS_UNROLL
  for (int half = 0; half < Tile::kHalves; ++half) {
    TS_UNROLL
    for (int column = 0; column < Tile::kColumns; ++column) {
      TS_UNROLL
      for (int i = 0; i < 4; ++i) sums[half][column][i] = 0;
    }
  }
  TS_UNROLL
  for (int chunk = 0; chunk < kAhead; ++chunk) {
    if (chunk < chunks) load_chunk<Tile>(of, chunk, chunk);
    copy_async_commit();
  }
  int slot = 0;
  int free_slot = Planted == Mistake::ring_overwritten ? 0 : kAhead;
  TS_NO_UNROLL
  for (int chunk = 0; chunk < chunks; ++chunk) {
    copy_async_wait<kLeft>();
    // This chunk has landed for all threads, and none reads the previous one any more.
    if constexpr (Planted != Mistake::no_ring_barrier) __syncthreads();
    if (chunk + kAhead < chunks) load_chunk<Tile>(of, chunk + kAhead, free_slot);
    copy_async_commit();
    multiply_chunk<Tile>(sums, slot);
    more(shared_memory<const bf16>() + slot * Tile::kStageNumbers + Tile::kRows * Tile::kChunk);
    slot = slot == kAhead ? 0 : slot + 1;
    free_slot = free_slot == kAhead ? 0 : free_slot + 1;
  }
  copy_async_wait<0>();
  __syncthreads();
}

}  // namespace tiersim::kernels
