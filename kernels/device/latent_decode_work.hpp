// Work of kernels/device/latent_decode.cuh by formula, without the combine.
#pragma once
#include <vector>

#include "kernels/cases/work.hpp"
#include "kernels/device/dense_decode_work.hpp"  // filled_splits

namespace tiersim::kernels {

struct LatentDecodeShape {
  std::int64_t latent = 0;
  std::int64_t rope = 0;
  std::int64_t heads = 0;
  std::int64_t splits = 1;
  bool paged = false;
  // Parameters of the kernel's layout.
  std::int64_t block_heads = 0;
  std::int64_t threads = 0;
  std::int64_t tile = 0;  // tokens; lengths are padded to it
};

inline Work latent_decode_work(const LatentDecodeShape& shape, const std::vector<int>& lengths) {
  constexpr std::int64_t kPage = 64;
  const std::int64_t depth = shape.latent + shape.rope;
  const auto batch = static_cast<std::int64_t>(lengths.size());
  const std::int64_t head_blocks = shape.heads / shape.block_heads;
  std::int64_t tokens = 0;
  std::int64_t tiles = 0;
  std::int64_t pages = 0;
  std::int64_t parts = 0;      // pairs of a sequence and a split with tokens
  std::int64_t sequences = 0;  // sequences with tokens
  for (const int length : lengths) {
    tokens += length;
    tiles += (length + shape.tile - 1) / shape.tile;
    pages += shape.paged ? (length + kPage - 1) / kPage : 0;
    parts += filled_splits(length, shape.splits, shape.tile);
    sequences += length > 0 ? 1 : 0;
  }
  const std::int64_t row = 2 * depth;
  const std::int64_t rows = batch * shape.heads;
  Work work;
  work.read_bytes = row * tokens + row * shape.heads * sequences + 4 * batch + 4 * pages;
  work.written_bytes = shape.splits == 1
                           ? 2 * shape.latent * rows
                           : 4 * shape.latent * shape.heads * parts + 4 * shape.splits * rows;
  // Blocks that share the tokens of a sequence each load them. Every thread of a block loads the
  // length once, and the page of every tile.
  const std::int64_t table_reads = shape.splits * batch + (shape.paged ? tiles : std::int64_t{0});
  work.requested_bytes = row * tokens * head_blocks + row * shape.heads * parts +
                         4 * shape.threads * head_blocks * table_reads + work.written_bytes;
  work.flops = 2 * (depth + shape.latent) * tokens * shape.heads;
  work.issued_flops = 2 * (depth + shape.latent) * tiles * shape.tile * shape.heads;
  return work;
}

}  // namespace tiersim::kernels
