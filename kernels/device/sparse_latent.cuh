// Decode attention over chosen rows of a latent cache (DeepSeek sparse attention): every head
// attends to the rows of its sequence's list, and their latent part is also the value.
//
//   q       [batch][heads][512 + 64]  bf16
//   rows    LatentRow, 656 B each: e4m3 with four scales below 128, and bf16
//   chosen  [batch][k]   int32  a row of the sequence: its number in `rows` is rows_per_sequence
//                               sequence + chosen. So slots of a hot buffer, or with 0 rows a
//                               sequence, places in a paged cache. The first min(k, length) are
//                               taken.
//   lengths [batch]      int32
// Result: see DecodeResult; rows are batch x heads.
//
// Launch: grid (heads / kRows, splits, batch), kThreads, shared_bytes(). Splits share the list.
//
// The rows of a tile come as they are by cp.async, 41 units of 16 B each, straight from the list.
// A pass raises them to bf16 into the tile on which latent_decode's products run, after which the
// next rows may come: they are in flight under the products. Each number times its scale is rounded
// to bf16 once, by at most 2^-9 of it, so that attention is that over a cache of bf16.
//
// Limiter: mma.sync, at 128 heads 424 FLOP a byte, and with few sequences the latency of a tile.
// The pass costs about 8 instructions for two numbers, a third of the time of the products; blocks
// of 64 heads each do it again. In flight: 41 KB a block (tiles of 64), where HBM needs 24 KB an
// SM. Layouts with tiles of 64 rows need 202 KB of shared memory, of sm_90 and later; with tiles of
// 32, 141 KB. Estimate: 40 % of the floor's rate for 64 sequences of 2048 rows and 128 heads.
#pragma once
#include "kernels/device/fp8.cuh"
#include "kernels/device/latent_decode.cuh"
#include "kernels/device/sparse_rows.hpp"

namespace tiersim::kernels {

struct SparseLatentArguments {
  LatentDecodeArguments decode;  // q, lengths, scale and result
  const uint4* rows;
  const int* chosen;
  int k;
  int rows_per_sequence;
};

// The layout of latent_decode with one stage, and behind it the rows as they came, and the list.
template <int RowWarps, int RowTiles, int ColumnWarps, int Tile>
struct SparseLatentLayout : LatentDecodeLayout<LatentRow::kLatent, LatentRow::kRope, RowWarps,
                                               RowTiles, ColumnWarps, Tile, 1> {
  using Base = LatentDecodeLayout<LatentRow::kLatent, LatentRow::kRope, RowWarps, RowTiles,
                                  ColumnWarps, Tile, 1>;
  static constexpr int kFetched = Base::kSharedBytes;
  static constexpr int kListed = kFetched + Tile * LatentRow::kBytes;
  static_assert(kFetched % 16 == 0);

  // Rows of a split.
  static constexpr int chunk(int k, int splits) {
    return ((k + Tile - 1) / Tile + splits - 1) / splits * Tile;
  }
  static constexpr std::size_t shared_bytes(int k, int splits) {
    return static_cast<std::size_t>(kListed + 4 * chunk(k, splits));
  }
};

template <class Layout, Mistake M>
class SparseLatentRows {
 public:
  // tokens: the part of the list that this block takes.
  __device__ __forceinline__ SparseLatentRows(const SparseLatentArguments& arguments,
                                              TokenRange tokens)
      : arguments_(arguments), tokens_(tokens) {
    const auto sequence = static_cast<std::int64_t>(blockIdx.z);
    const int* chosen = arguments.chosen + sequence * arguments.k + tokens.begin;
    const int first = static_cast<int>(sequence) * arguments.rows_per_sequence;
    for (int i = static_cast<int>(threadIdx.x); i < tokens.end - tokens.begin;
         i += Layout::kThreads) {
      listed()[i] = first + load(chosen + i);
    }
    __syncthreads();
  }

  // Begins to copy the rows of a tile; rows past the end become zeros. Commits even where there is
  // no tile.
  __device__ __forceinline__ void fetch(int first_token) const {
    const int valid = tokens_.end - first_token;
    if (valid > 0) {
      const int* list = listed() + (first_token - tokens_.begin);
      TS_UNROLL_BY(4)
      for (int i = static_cast<int>(threadIdx.x); i < Layout::kTokens * LatentRow::kUnits;
           i += Layout::kThreads) {
        const int row = i / LatentRow::kUnits;
        const std::int64_t from = row < valid ? list[row] : 0;
        copy_async(fetched() + i * 16,
                   arguments_.rows + from * LatentRow::kUnits + i % LatentRow::kUnits,
                   row < valid ? 16 : 0);
      }
    }
    copy_async_commit();
  }

  // Raises the rows to bf16 into the tile.
  __device__ __forceinline__ void raise() const {
    constexpr int kLatentUnits = LatentRow::kLatent / 16;
    constexpr int kRopeUnits = LatentRow::kRope / 8;
    constexpr int kUnits = kLatentUnits + kRopeUnits;  // of a row, without its scales
    auto* tile = shared_memory<unsigned char>(std::size_t{Layout::kRing});
    TS_UNROLL_BY(2)
    for (int i = static_cast<int>(threadIdx.x); i < Layout::kTokens * kUnits;
         i += Layout::kThreads) {
      const int row = i / kUnits;
      const int unit = i % kUnits;
      const unsigned char* from = fetched() + row * LatentRow::kBytes;
      const auto to = [&](int at) {
        return reinterpret_cast<uint4*>(tile + swizzled<Layout::kUnits>(row, at));
      };
      if (unit >= kLatentUnits) {
        *to(kLatentUnits + unit) =
            reinterpret_cast<const uint4*>(from + LatentRow::kRopes)[unit - kLatentUnits];
        continue;
      }
      const int group = M == Mistake::wrong_scale_group ? 0 : unit * 16 / LatentRow::kGroup;
      const float factor =
          reinterpret_cast<const float*>(from + LatentRow::kScales)[group] * kE4m3Factor;
      const uint4 v = reinterpret_cast<const uint4*>(from)[unit];
      const uint2 a = raise_word(v.x, factor);
      const uint2 b = raise_word(v.y, factor);
      const uint2 c = raise_word(v.z, factor);
      const uint2 d = raise_word(v.w, factor);
      *to(2 * unit) = uint4{a.x, a.y, b.x, b.y};
      *to(2 * unit + 1) = uint4{c.x, c.y, d.x, d.y};
    }
  }

 private:
  __device__ __forceinline__ static unsigned char* fetched() {
    return shared_memory<unsigned char>(std::size_t{Layout::kFetched});
  }
  __device__ __forceinline__ static int* listed() {
    return shared_memory<int>(std::size_t{Layout::kListed});
  }

  const SparseLatentArguments& arguments_;
  TokenRange tokens_;
};

template <class Layout, Mistake M = Mistake::none>
__global__ void __launch_bounds__(Layout::kThreads, 1)
    sparse_latent(const SparseLatentArguments arguments) {
  constexpr int kTokens = Layout::kTokens;
  const int heads = static_cast<int>(gridDim.x) * Layout::kRows;
  const int rows = static_cast<int>(gridDim.z) * heads;
  const std::int64_t first_row =
      std::int64_t{blockIdx.z} * heads + std::int64_t{blockIdx.x} * Layout::kRows;
  const int count = min(arguments.k, load(arguments.decode.lengths + blockIdx.z));
  const TokenRange tokens =
      tokens_of_split(count, static_cast<int>(gridDim.y), static_cast<int>(blockIdx.y), kTokens);
  if (tokens.begin >= tokens.end) {
    store_no_tokens<Layout>(arguments.decode.result, first_row, rows);
    return;
  }
  const SparseLatentRows<Layout, M> chosen(arguments, tokens);
  LatentDecodeBlock<Layout, M> block(arguments.decode, tokens.end);
  block.fetch_queries(first_row);
  chosen.fetch(tokens.begin);
  for (int token = tokens.begin; token < tokens.end; token += kTokens) {
    copy_async_wait<M == Mistake::copies_waited_late ? 1 : 0>();
    __syncthreads();  // all copies are seen, and no thread reads the tile any more
    if constexpr (M == Mistake::ring_overwritten) chosen.fetch(token + kTokens);
    chosen.raise();
    if constexpr (M != Mistake::no_barrier_before_tile) __syncthreads();
    if constexpr (M != Mistake::ring_overwritten) chosen.fetch(token + kTokens);
    block.attend(token, 0);
  }
  copy_async_wait<0>();
  block.store_result(first_row, rows);
}

}  // namespace tiersim::kernels
