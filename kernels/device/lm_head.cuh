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
// vocabulary tile are neighbours, so that the second one finds it in L2. Each thread folds its rows
// of a token into one Top2, all of them meet in shared memory (the ring is free by then). A fold
// finds the maximum first, so that one exponential a number is enough and none waits for another.
// lm_head_combine: a warp a token, 4 tokens a block; it also votes for the exit of the batch. It
// may be launched early: it then waits on the card for lm_head's last block.
//
// Limited by HBM to ~B = 64: T5-base reads 49 MB, 11.5 us at 4.3 TB/s; an H200 takes 15.2 us.
// 251 blocks of 128 rows are one wave at two a multiprocessor. Beyond, limited by L2, from which
// every block loads all its tokens, and by mma.sync. Blocks of 256 rows load half of that, with one
// block a multiprocessor, and are 2 to 5 % slower there.
#pragma once
#include "kernels/device/dependent_launch.cuh"
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

// The logit that exponentials are scaled by. It is finite where all logits are -inf, since -inf -
// -inf would be NaN.
__device__ __forceinline__ float finite_top(float first) {
  return first == kMinusInfinity ? 0.0F : first;
}

// The merge of several. Their exponentials are independent of each other.
template <Mistake Planted = Mistake::none, std::size_t Count>
__device__ __forceinline__ Top2 merge_all(const Top2 (&of)[Count]) {
  constexpr int kCount{Count};
  float first = of[0].first;
  float second = of[0].second;
  int index = of[0].index;
  TS_UNROLL
  for (int i = 1; i < kCount; ++i) {
    const bool lower =
        Planted == Mistake::highest_index_wins ? of[i].index > index : of[i].index < index;
    if (of[i].first > first || (of[i].first == first && lower)) index = of[i].index;
    second = fmaxf(fmaxf(second, of[i].second), fminf(first, of[i].first));
    first = fmaxf(first, of[i].first);
  }
  const float top = finite_top(first);
  float sum = 0;
  TS_UNROLL
  for (int i = 0; i < kCount; ++i) sum += of[i].sum * exp2_fast((of[i].first - top) * kLog2E);
  return {first, index, second, sum};
}

// The two best of the logits of rows first_row, first_row + 8, ...
template <Mistake Planted = Mistake::none, std::size_t Count>
__device__ __forceinline__ Top2 top_of(const float (&logits)[Count], int first_row) {
  constexpr int kCount{Count};
  float first = logits[0];
  float second = kMinusInfinity;
  TS_UNROLL
  for (int i = 1; i < kCount; ++i) {
    second = fmaxf(second, fminf(first, logits[i]));
    first = fmaxf(first, logits[i]);
  }
  const float top = finite_top(first);
  int at = 0;
  float sum = 0;
  TS_UNROLL
  for (int i = 0; i < kCount; ++i) {
    const int last = Planted == Mistake::highest_index_wins ? i : kCount - 1 - i;
    if (logits[last] == first) at = last;
    sum += exp2_fast((logits[i] - top) * kLog2E);
  }
  return {first, first_row + 8 * at, second, sum};
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
  static constexpr int kEntriesOfThread = kEntries / kThreadsOfToken;
  static_assert(kEntriesOfThread * kThreadsOfToken == kEntries);
  // Permuted by the token's number: neighbouring lanes hold neighbouring tokens.
  static __device__ __forceinline__ int entry(int token, int at) {
    return token * kEntries + (at ^ (token & 7));
  }
};

// Folds each thread's rows of each of its tokens into shared memory. first_row: of the tile. Rows
// beyond the vocabulary become -inf.
template <class Tile, Mistake Planted>
__device__ __forceinline__ void fold_rows(TileSums<Tile>& sums, int first_row, int vocabulary) {
  if (first_row + Tile::kRows > vocabulary && Planted != Mistake::no_tail_mask) {
    TS_UNROLL
    for (int half = 0; half < Tile::kHalves; ++half) {
      TS_UNROLL
      for (int i = 0; i < 4; ++i) {
        if (first_row + Tile::row_of(half, i) < vocabulary) continue;
        TS_UNROLL
        for (int column = 0; column < Tile::kColumns; ++column) {
          sums[half][column][i] = kMinusInfinity;
        }
      }
    }
  }
  auto* entries = shared_memory<Top2>();
  const int at = 8 * Tile::row_warp() + lane_index() / 4;
  TS_UNROLL
  for (int column = 0; column < Tile::kColumns; ++column) {
    TS_UNROLL
    for (int j = 0; j < 2; ++j) {
      float logits[std::size_t{2 * Tile::kHalves}];
      TS_UNROLL
      for (int r = 0; r < 2 * Tile::kHalves; ++r) logits[r] = sums[r / 2][column][2 * (r % 2) + j];
      entries[LmHeadLayout<Tile>::entry(Tile::token_of(column, j), at)] =
          top_of<Planted>(logits, first_row + Tile::row_of(0, 0));
    }
  }
}

template <int Rows, int Tokens, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(TokenTile<Rows, Tokens>::kThreads,
                                  TokenTile<Rows, Tokens>::kBlocks)
    lm_head(const bf16* embedding, const bf16* hidden, int vocabulary, int tokens, int depth,
            uint4* partials) {
  using Tile = TokenTile<Rows, Tokens>;
  using Layout = LmHeadLayout<Tile>;
  start_next_launch();
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
  Top2 parts[std::size_t{Layout::kEntriesOfThread}];
  TS_UNROLL
  for (int i = 0; i < Layout::kEntriesOfThread; ++i) {
    parts[i] = entries[Layout::entry(token, part + i * Layout::kThreadsOfToken)];
  }
  const Top2 mine = warp_merge<Layout::kThreadsOfToken, Planted>(merge_all<Planted>(parts));
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
  wait_for_previous_launch();
  for (int first = 0; token < tokens && first < tiles; first += kAtOnce * kWarp) {
    uint4 v[kAtOnce];
    TS_UNROLL
    // Without branches, so that all loads are in flight at once
    for (int i = 0; i < kAtOnce; ++i) {
      v[i] = load_coherent(row + min(first + i * kWarp + lane_index(), tiles - 1));
    }
    Top2 parts[kAtOnce + 1];
    parts[kAtOnce] = mine;
    TS_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const bool exists = first + i * kWarp + lane_index() < tiles;
      parts[i] = {exists ? __uint_as_float(v[i].x) : kMinusInfinity,
                  exists ? static_cast<int>(v[i].y) : 0x7fffffff,
                  exists ? __uint_as_float(v[i].z) : kMinusInfinity,
                  exists ? __uint_as_float(v[i].w) : 0};
    }
    mine = merge_all<Planted>(parts);
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
