// Work of kernels/device/dense_decode.cuh and gqa_decode.cuh by formula, without the combine.
#pragma once
#include <vector>

#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

// Number of splits of a sequence with at least one token. Each split is ceil(tiles / splits) whole
// tiles of `tile` tokens, and the last one is the rest.
constexpr std::int64_t filled_splits(std::int64_t length, std::int64_t splits, std::int64_t tile) {
  const std::int64_t tiles = (length + tile - 1) / tile;
  const std::int64_t tokens = (tiles + splits - 1) / splits * tile;
  return tokens == 0 ? 0 : (length + tokens - 1) / tokens;
}

struct DenseDecodeShape {
  std::int64_t kv_heads = 1;
  std::int64_t group = 1;  // query heads of a key head
  std::int64_t head_dim = 128;
  std::int64_t splits = 1;
};

// matrix_rows: rows of a product, 1 on the FMA units, 16 on matrix tiles.
inline Work dense_decode_work(const DenseDecodeShape& shape, const std::vector<int>& lengths,
                              std::int64_t matrix_rows) {
  constexpr std::int64_t kWarps = 4;      // of a block
  constexpr std::int64_t kTile = 16;      // tokens of a warp at a time; lengths are padded to it
  constexpr std::int64_t kThreads = 128;  // each loads the length
  const std::int64_t d = shape.head_dim;
  const auto batch = static_cast<std::int64_t>(lengths.size());
  const std::int64_t rows = batch * shape.kv_heads * shape.group;
  std::int64_t tokens = 0;
  std::int64_t padded_tokens = 0;
  std::int64_t blocks = 0;        // blocks with tokens
  std::int64_t used_queries = 0;  // sequences with tokens
  for (const int length : lengths) {
    tokens += length;
    padded_tokens += (length + kTile - 1) / kTile * kTile;
    blocks += shape.kv_heads * filled_splits(length, shape.splits, kWarps * kTile);
    used_queries += length > 0 ? 1 : 0;
  }
  const std::int64_t cache = 2 * 2 * d * tokens * shape.kv_heads;
  const std::int64_t query = 2 * d * shape.group;  // of a key head
  // 32 lanes of 16 B: every row of lanes has its own copy of a single query.
  const std::int64_t query_of_warp = matrix_rows == 1 ? 512 : query;
  Work work;
  work.read_bytes = cache + query * shape.kv_heads * used_queries + 4 * batch;
  work.written_bytes =
      shape.splits == 1 ? 2 * d * rows : 4 * d * blocks * shape.group + 4 * shape.splits * rows;
  work.requested_bytes = cache + query_of_warp * kWarps * blocks +
                         4 * kThreads * shape.splits * shape.kv_heads * batch + work.written_bytes;
  work.flops = 2 * 2 * d * tokens * shape.kv_heads * shape.group;
  work.issued_flops =
      2 * 2 * d * padded_tokens * shape.kv_heads * (matrix_rows == 1 ? shape.group : matrix_rows);
  return work;
}

}  // namespace tiersim::kernels
