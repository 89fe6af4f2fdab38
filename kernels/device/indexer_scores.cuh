// Scores of an indexer (DeepSeek sparse attention) for one new token a sequence:
//   scores[t] = scale[t] sum over heads of weights[h] max(0, queries[h] . keys[t])
//
//   queries    [batch][Heads][128]           e4m3; scales of queries are part of the weights
//   weights    [batch][Heads]                fp32
//   keys       [pages] IndexPage             64 keys of 128 e4m3, then 64 scales fp32
//   page_table [batch][pages_per_sequence]   int32
//   lengths    [batch]                       int32
//   scores     [batch][64 pages_per_sequence] fp32; -inf past the length, to the end of a tile
//
// Launch: grid (blocks a sequence, batch), kIndexerThreads, indexer_shared_bytes().
//
// Warps take tiles of 32 tokens by turns. A lane copies, waits for and reads only its own bytes of
// the keys, so that the ring needs no barrier, and four neighbouring lanes read 64 contiguous bytes
// of a key. These are the lanes of one column of B in mma m16n8k16, and as a sum has no order of
// its own, the numbers of a key stay where they were loaded: the queries are permuted to suit, once
// a block. Each key is raised to bf16 once, in registers, for all heads; that product is exact.
//
// Limiter: HBM and mma.sync alike. 132 B and 16.5 KFLOP a token are 31 ps at 4.3 TB/s and 27 to
// 33 ps at the 500 to 600 TFLOP/s of mma.sync, on an H200. Beside them the queries come from shared
// memory, 16 KB for 32 tokens of a warp: 4 clocks of the 7 that a token may take. In flight: two
// tiles a warp, 64 KB a block, two blocks an SM. Estimate: 60 % of the floor's rate.
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/fp8.cuh"
#include "kernels/device/indexer_scores_work.hpp"
#include "kernels/device/lane_sums.cuh"
#include "kernels/device/matrix_tile.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

struct IndexerArguments {
  const unsigned char* queries;
  const float* weights;
  const unsigned char* keys;
  const int* page_table;
  const int* lengths;
  float* scores;
  int pages_per_sequence;
};

// Four numbers of a row of queries or keys, at byte 4 word of it, are the k of step `word` / 16 * 4
// + `word` % 4 that lane `word` % 16 / 4 of a row or column holds: bytes 0, 2 in its first
// register, bytes 1, 3 in its second.
template <int Heads>
__device__ __forceinline__ void stage_queries(const unsigned char* queries, const float* weights) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < Heads) {
    shared_memory<float>(indexer_weights(Heads))[thread] = load(weights + thread);
  }
  constexpr int kRowUnits = IndexPage::kDim / 16;
  for (int i = thread; i < Heads * kRowUnits; i += kIndexerThreads) {
    const uint4 loaded = load(reinterpret_cast<const uint4*>(queries) + i);
    const unsigned words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
    const int row = i / kRowUnits;
    const int lane = i % 4;
    TS_UNROLL
    for (int word = 0; word < 4; ++word) {
      const int step = i % kRowUnits / 4 * 4 + word;
      unsigned char* to = shared_memory<unsigned char>() + 4 * lane;
      *reinterpret_cast<unsigned*>(to + swizzled<16>(row, 2 * step)) =
          raise_e4m3(even_e4m3(words[word]));
      *reinterpret_cast<unsigned*>(to + swizzled<16>(row, 2 * step + 1)) =
          raise_e4m3(odd_e4m3(words[word]));
    }
  }
}

// The tiles of one warp.
template <int Heads, Mistake M>
class IndexerWarp {
  static constexpr int kColumns = kIndexerTile / 8;    // of 8 tokens
  static constexpr int kSteps = IndexPage::kDim / 16;  // of a product
  static constexpr int kPageTiles = IndexPage::kTokens / kIndexerTile;
  using Keys = unsigned[std::size_t{kColumns}][std::size_t{kSteps}][2];

 public:
  __device__ __forceinline__ IndexerWarp(const IndexerArguments& arguments, int sequence,
                                         int length)
      : arguments_(arguments),
        pages_(arguments.page_table + std::int64_t{sequence} * arguments.pages_per_sequence),
        scores_(arguments.scores +
                std::int64_t{sequence} * arguments.pages_per_sequence * IndexPage::kTokens),
        length_(length) {}

  // Begins to copy a tile into a stage; commits even where there is none. Returns its page.
  __device__ __forceinline__ const unsigned char* fetch(int tile, int stage) const {
    const unsigned char* page = arguments_.keys;
    if (tile * kIndexerTile < length_) {
      page += std::int64_t{load(pages_ + tile / kPageTiles)} * IndexPage::kBytes;
      const int row = tile % kPageTiles * kIndexerTile + lane_index() / 4;
      const unsigned char* from = page + row * IndexPage::kDim + lane_index() % 4 * 16;
      TS_UNROLL
      for (int n = 0; n < kColumns; ++n) {
        const int token = tile * kIndexerTile + 8 * n + lane_index() / 4;
        const int valid = token < length_ ? 16 : 0;
        copy_async(slot(stage, n, 0), from + 8 * n * IndexPage::kDim, valid);
        copy_async(slot(stage, n, 1), from + 8 * n * IndexPage::kDim + 64, valid);
      }
    }
    copy_async_commit();
    return page;
  }

  // Takes the keys of a stage, which is free after it.
  __device__ __forceinline__ void take(Keys& keys, int stage) const {
    TS_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      TS_UNROLL
      for (int half = 0; half < 2; ++half) {
        const uint4 loaded = *slot(stage, n, half);
        const unsigned words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
        TS_UNROLL
        for (int i = 0; i < 4; ++i) {
          keys[n][4 * half + i][0] = raise_e4m3(even_e4m3(words[i]));
          keys[n][4 * half + i][1] = raise_e4m3(odd_e4m3(words[i]));
        }
      }
    }
  }

  __device__ __forceinline__ void score(const Keys& keys, int tile,
                                        const unsigned char* page) const {
    // This lane's token after the sum over the rows of its columns.
    const int group = lane_index() / 4;
    const int own = 8 * (group / 2) + 2 * (lane_index() % 4) + group % 2;
    const int token = tile * kIndexerTile + own;
    float scale = 0;
    if (token < length_) {
      const auto* scales = reinterpret_cast<const float*>(page + IndexPage::kScales);
      scale = load(scales + tile % kPageTiles * kIndexerTile + own);
    }
    float sums[std::size_t{2 * kColumns}] = {};
    const auto* weights = shared_memory<float>(indexer_weights(Heads)) + group;
    TS_NO_UNROLL
    for (int tile_of_heads = 0; tile_of_heads < Heads / 16; ++tile_of_heads) {
      const float weight[2] = {weights[16 * tile_of_heads], weights[16 * tile_of_heads + 8]};
      float products[std::size_t{kColumns}][4] = {};
      TS_UNROLL
      for (int step = 0; step < kSteps; ++step) {
        unsigned queries[4];
        load_a<16>(queries, shared_memory<unsigned char>(), 16 * tile_of_heads, step);
        TS_UNROLL
        for (int n = 0; n < kColumns; ++n) mma(products[n], queries, keys[n][step]);
      }
      TS_UNROLL
      for (int n = 0; n < kColumns; ++n) {
        TS_UNROLL
        for (int i = 0; i < 4; ++i) {
          const float product =
              M == Mistake::no_relu ? products[n][i] : fmaxf(products[n][i], 0.0F);
          float& sum = sums[2 * n + i % 2];
          sum = multiply_add(weight[i / 2], product, sum);
        }
      }
    }
    const float sum = lane_sums<4>(sums);
    const bool real = token < length_ || M == Mistake::no_tail_mask;
    store(scores_ + token, real ? sum * scale : kMinusInfinity);
  }

 private:
  // This thread's 16 B of a column of tokens: [stage][column][half of a key][thread].
  __device__ __forceinline__ static uint4* slot(int stage, int column, int half) {
    return shared_memory<uint4>(indexer_ring(Heads)) +
           ((stage * kColumns + column) * 2 + half) * kIndexerThreads +
           static_cast<int>(threadIdx.x);
  }

  const IndexerArguments& arguments_;
  const int* pages_;
  float* scores_;
  int length_;
};

template <int Heads, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kIndexerThreads, 2)
    indexer_scores(const IndexerArguments arguments) {
  const int sequence = static_cast<int>(blockIdx.y);
  const int length = load(arguments.lengths + sequence);
  const int stride = static_cast<int>(gridDim.x) * kIndexerWarps;
  int tile = static_cast<int>(blockIdx.x) * kIndexerWarps;
  if (tile * kIndexerTile >= length) return;
  tile += warp_index();
  static_assert(kIndexerStages == 2);
  const IndexerWarp<Heads, M> warp(arguments, sequence, length);
  // The page of the tile in each stage.
  const unsigned char* pages[std::size_t{kIndexerStages}];
  TS_UNROLL
  for (int stage = 0; stage < kIndexerStages; ++stage) {
    pages[stage] = warp.fetch(tile + stage * stride, stage);
  }
  stage_queries<Heads>(arguments.queries + std::int64_t{sequence} * Heads * IndexPage::kDim,
                       arguments.weights + std::int64_t{sequence} * Heads);
  if constexpr (M != Mistake::no_barrier_before_tile) __syncthreads();
  int stage = 0;
  while (tile * kIndexerTile < length) {
    copy_async_wait<M == Mistake::copies_waited_late ? kIndexerStages : kIndexerStages - 1>();
    unsigned keys[std::size_t{kIndexerTile / 8}][std::size_t{IndexPage::kDim / 16}][2];
    const unsigned char* page = stage == 0 ? pages[0] : pages[1];
    const int next = M == Mistake::ring_overwritten ? 1 - stage : stage;
    warp.take(keys, stage);
    const unsigned char* fetched = warp.fetch(tile + kIndexerStages * stride, next);
    (stage == 0 ? pages[0] : pages[1]) = fetched;
    warp.score(keys, tile, page);
    tile += stride;
    stage = 1 - stage;
  }
  copy_async_wait<0>();
}

}  // namespace tiersim::kernels
