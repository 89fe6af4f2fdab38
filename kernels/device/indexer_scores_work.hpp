// Geometry and work of indexer_scores.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"
#include "kernels/device/sparse_rows.hpp"

namespace tiersim::kernels {

constexpr int kIndexerThreads = 256;
constexpr int kIndexerWarps = kIndexerThreads / 32;
constexpr int kIndexerTile = 32;  // tokens that a warp takes at a time
constexpr int kIndexerStages = 2;
constexpr int kIndexerStageBytes = kIndexerWarps * kIndexerTile * IndexPage::kDim;

// Offsets [B]: queries as bf16, weights, then the ring of keys.
TS_BOTH constexpr std::size_t indexer_weights(int heads) {
  return static_cast<std::size_t>(heads * IndexPage::kDim * 2);
}
TS_BOTH constexpr std::size_t indexer_ring(int heads) {
  return indexer_weights(heads) + static_cast<std::size_t>(heads) * 4;
}
TS_BOTH constexpr std::size_t indexer_shared_bytes(int heads) {
  return indexer_ring(heads) + std::size_t{kIndexerStages} * kIndexerStageBytes;
}

// Keys and scales are read once, and each block of a sequence reads its queries and weights. A
// score is written for each token of a tile. Beside 2 FLOP for each number of a key and head, each
// product is multiplied by its head's weight.
constexpr Work indexer_scores_work(std::span<const int> lengths, std::int64_t heads,
                                   std::int64_t blocks) {
  constexpr std::int64_t kLanes = 32;
  const std::int64_t queries = heads * IndexPage::kDim;
  Work work;
  for (const int length : lengths) {
    const std::int64_t tiles = (length + kIndexerTile - 1) / kIndexerTile;
    const std::int64_t pages = (length + IndexPage::kTokens - 1) / IndexPage::kTokens;
    const std::int64_t filled = (tiles + kIndexerWarps - 1) / kIndexerWarps;
    const std::int64_t busy = blocks < filled ? blocks : filled;
    const std::int64_t keys = std::int64_t{length} * (IndexPage::kDim + 4);
    Work one;
    one.read_bytes = 4 + (length > 0 ? queries + 4 * heads : 0) + keys + 4 * pages;
    one.written_bytes = 4 * kIndexerTile * tiles;
    // Each lane of a warp loads the page of its tile.
    one.requested_bytes = 4 * kIndexerThreads * blocks + busy * (queries + 4 * heads) + keys +
                          4 * kLanes * tiles + one.written_bytes;
    one.flops = 2 * heads * (IndexPage::kDim + 1) * length;
    one.issued_flops = 2 * heads * (IndexPage::kDim + 1) * kIndexerTile * tiles;
    work = work + one;
  }
  return work;
}

}  // namespace tiersim::kernels
