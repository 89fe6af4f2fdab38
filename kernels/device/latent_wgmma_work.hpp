// Bytes and FLOPs of latent_decode_wgmma. Copies have whole tiles of 64 tokens, so that the last
// tile of a sequence is read and multiplied in full.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

// The partition of one launch of latent_decode_wgmma. Heads are multiplied in blocks of 64 or 128.
struct LatentCut {
  std::int64_t heads;            // of a sequence
  std::int64_t heads_per_block;  // 128 or 64
  std::int64_t latent;           // of a row, and of the values
  std::int64_t rope;
  std::int64_t splits;           // blocks over the tokens of a sequence
  bool tokens_by_turns = false;  // the two warpgroups of a block are separate splits
  bool paged = false;            // a page table is read
};

inline Work latent_decode_wgmma_work(const LatentCut& cut,
                                     const std::vector<std::int64_t>& lengths) {
  const std::int64_t row_bytes = 2 * (cut.latent + cut.rope);
  const std::int64_t head_blocks = (cut.heads + cut.heads_per_block - 1) / cut.heads_per_block;
  const std::int64_t parts = cut.tokens_by_turns ? 2 : 1;  // of a block's tiles
  Work work;
  for (const std::int64_t length : lengths) {
    const std::int64_t tiles = (length + 63) / 64;
    const std::int64_t each = (tiles + cut.splits - 1) / cut.splits;
    const std::int64_t blocks = each == 0 ? 0 : (tiles + each - 1) / each;  // with tiles
    // Outputs that are written: one for each part of a block with a tile.
    std::int64_t outputs = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
      outputs += std::min(parts, std::min(each, tiles - block * each));
    }
    const std::int64_t kv = tiles * 64 * row_bytes + (cut.paged ? 4 * tiles : 0);
    const std::int64_t queries = cut.heads * row_bytes;
    const std::int64_t written = cut.heads * 4 * (outputs * cut.latent + parts * cut.splits);
    work.read_bytes += kv + (tiles > 0 ? queries : 0) + 4;
    work.written_bytes += written;
    // Each of the 384 threads loads the length; each block of heads loads the tiles.
    work.requested_bytes +=
        kv * head_blocks + queries * blocks + 384 * 4 * cut.splits * head_blocks + written;
    const std::int64_t flops_per_row = 2 * (2 * cut.latent + cut.rope);  // of a head and a token
    work.flops += length * cut.heads * flops_per_row;
    work.issued_flops += tiles * 64 * head_blocks * cut.heads_per_block * flops_per_row;
  }
  return work;
}

}  // namespace tiersim::kernels
