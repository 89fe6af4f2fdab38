// Language-model head fused with the inputs of an exit decision. For each token it gives the arg
// max, the probability of the best, its distance to the second best (CALM's softmax response,
// Schuster et al. 2022, section 3.5) and the log of the sum of exponentials. The logits are never
// written.
//
//   embedding [vocabulary][depth] bf16, hidden [tokens][depth] bf16
//   partials  [tokens][tiles] Top2 between the two launches, tiles = vocabulary / Rows rounded up
//   best [tokens] int32 (lowest index wins ties), probability, difference, log_sum [tokens] fp32
//
// lm_head: grid (tokens / Tokens, tiles), TokenTile::kThreads threads; blocks that share a
// vocabulary tile are neighbours, so that the second one finds it in L2. Each thread folds its four
// rows of a token into one Top2, all of them meet in shared memory (the ring is free by then).
// lm_head_combine: a warp a token, 4 tokens a block; it also votes for the exit of the batch.
//
// Limited by HBM to ~B = 128: T5-base reads 49 MB, 11.5 us at 4.3 TB/s; design estimate 13 us and
// 2 us for the second launch. 251 blocks of 128 rows are one wave at two a multiprocessor.
#pragma once
#include "kernels/device/exit_vote.cuh"
#include "kernels/device/token_tile.cuh"

namespace tiersim::kernels {

// The two best of some logits, and the sum of exp(logit - first). Without logits: -inf and sum 0.
struct alignas(16) Top2 {
  float first;
  int index;  // of first: the lowest among equals
  float second;
  float sum;
};

template <Mistake Planted = Mistake::none>
__device__ __forceinline__ Top2 merge(const Top2& a, const Top2& b) {
  const bool lower = Planted == Mistake::highest_index_wins ? b.index > a.index : b.index < a.index;
  const bool b_wins = b.first > a.first || (b.first == a.first && lower);
  // Chosen one number at a time: a reference to either struct would keep both in local memory.
  const float first = b_wins ? b.first : a.first;
  const float lost = b_wins ? a.first : b.first;
  const float second = b_wins ? b.second : a.second;
  const float sum = b_wins ? b.sum : a.sum;
  const float lost_sum = b_wins ? a.sum : b.sum;
  // Equal logits, -inf included, need no scale: -inf - -inf would be NaN.
  const float scale = lost == first ? 1.0F : exp2_fast((lost - first) * kLog2E);
  return {first, b_wins ? b.index : a.index, fmaxf(second, lost), sum + lost_sum * scale};
}

template <int Width, Mistake Planted = Mistake::none>
__device__ __forceinline__ Top2 warp_merge(Top2 mine) {
  TS_UNROLL
  for (int step = Width / 2; step > 0; step /= 2) {
    const Top2 other = {
        __shfl_xor_sync(kAllLanes, mine.first, step), __shfl_xor_sync(kAllLanes, mine.index, step),
        __shfl_xor_sync(kAllLanes, mine.second, step), __shfl_xor_sync(kAllLanes, mine.sum, step)};
    mine = merge<Planted>(mine, other);
  }
  return mine;
}

template <class Tile>
struct LmHeadLayout {
  static constexpr int kEntries = 8 * Tile::kRowWarps;  // Top2 of a token in shared memory
  static constexpr int kEntryBytes = Tile::kTokens * kEntries * 16;
  static constexpr int kSharedBytes =
      Tile::kRingBytes > kEntryBytes ? Tile::kRingBytes : kEntryBytes;
  static constexpr int kThreadsOfToken = Tile::kThreads / Tile::kTokens;
  // Permuted by the token's number: neighbouring lanes hold neighbouring tokens.
  static __device__ __forceinline__ int entry(int token, int at) {
    return token * kEntries + (at ^ (token & 7));
  }
};

// Folds each thread's rows of each of its tokens into shared memory. first_row: of the tile.
template <class Tile, Mistake Planted>
__device__ __forceinline__ void fold_rows(const TileSums<Tile>& sums, int first_row,
                                          int vocabulary) {
  auto* entries = shared_memory<Top2>();
  TS_UNROLL
  for (int column = 0; column < Tile::kColumns; ++column) {
    TS_UNROLL
    for (int j = 0; j < 2; ++j) {
      Top2 mine = {kMinusInfinity, 0x7fffffff, kMinusInfinity, 0};
      TS_UNROLL
      for (int r = 0; r < 4; ++r) {
        const int i = 2 * (r % 2) + j;
        const int row = first_row + Tile::row_of(r / 2, i);
        if (row < vocabulary || Planted == Mistake::no_tail_mask) {
          mine = merge<Planted>(mine, {sums[r / 2][column][i], row, kMinusInfinity, 1});
        }
      }
      const int at = 8 * Tile::row_warp() + lane_index() / 4;
      entries[LmHeadLayout<Tile>::entry(Tile::token_of(column, j), at)] = mine;
    }
  }
}

template <int Rows, int Tokens, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(TokenTile<Rows, Tokens>::kThreads, 2)
    lm_head(const bf16* embedding, const bf16* hidden, int vocabulary, int tokens, int depth,
            uint4* partials) {
  using Tile = TokenTile<Rows, Tokens>;
  using Layout = LmHeadLayout<Tile>;
  const int first_token = static_cast<int>(blockIdx.x) * Tokens;
  const int first_row = static_cast<int>(blockIdx.y) * Rows;
  TileSums<Tile> sums;
  multiply_tile<Tile, Planted>(sums, {embedding + static_cast<std::int64_t>(first_row) * depth,
                                      hidden + static_cast<std::int64_t>(first_token) * depth,
                                      vocabulary - first_row, tokens - first_token, depth});
  fold_rows<Tile, Planted>(sums, first_row, vocabulary);
  if constexpr (Planted != Mistake::no_vote_barrier) __syncthreads();
  const int token = static_cast<int>(threadIdx.x) / Layout::kThreadsOfToken;
  const int part = static_cast<int>(threadIdx.x) % Layout::kThreadsOfToken;
  const auto* entries = shared_memory<const Top2>();
  Top2 mine = entries[Layout::entry(token, part)];
  for (int at = part + Layout::kThreadsOfToken; at < Layout::kEntries;
       at += Layout::kThreadsOfToken) {
    mine = merge<Planted>(mine, entries[Layout::entry(token, at)]);
  }
  mine = warp_merge<Layout::kThreadsOfToken, Planted>(mine);
  if (part == 0 && first_token + token < tokens) {
    store(partials + static_cast<std::int64_t>(first_token + token) * gridDim.y + blockIdx.y,
          make_uint4(__float_as_uint(mine.first), static_cast<unsigned>(mine.index),
                     __float_as_uint(mine.second), __float_as_uint(mine.sum)));
  }
}

struct HeadResult {
  int* best;
  float* probability;
  float* difference;
  float* log_sum;
};

// Shared memory: kVoteBytes.
template <Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kVoteThreads)
    lm_head_combine(const uint4* partials, int tiles, int tokens, HeadResult result,
                    ExitState state) {
  constexpr int kAtOnce = 8;
  const int token = static_cast<int>(blockIdx.x) * kVoteRows + warp_index();
  Top2 mine = {kMinusInfinity, 0x7fffffff, kMinusInfinity, 0};
  const uint4* row = partials + static_cast<std::int64_t>(token) * tiles;
  for (int first = 0; token < tokens && first < tiles; first += kAtOnce * kWarp) {
    uint4 v[kAtOnce];
    TS_UNROLL
    // Without branches, so that all loads are in flight at once
    for (int i = 0; i < kAtOnce; ++i) {
      v[i] = load(row + min(first + i * kWarp + lane_index(), tiles - 1));
    }
    TS_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i * kWarp + lane_index() < tiles) {
        mine = merge<Planted>(mine, {__uint_as_float(v[i].x), static_cast<int>(v[i].y),
                                     __uint_as_float(v[i].z), __uint_as_float(v[i].w)});
      }
    }
  }
  mine = warp_merge<kWarp, Planted>(mine);
  const float best = 1.0F / mine.sum;
  const float difference = best - best * exp2_fast((mine.second - mine.first) * kLog2E);
  if (token < tokens && lane_index() == 0) {
    store(result.best + token, mine.index);
    store(result.probability + token, best);
    store(result.difference + token, difference);
    store(result.log_sum + token, mine.first + log2_fast(mine.sum) * kLn2);
  }
  vote<Planted>(state, token, tokens, difference);
}

}  // namespace tiersim::kernels
