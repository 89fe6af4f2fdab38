// Work of kernels/device/skinny_product.cuh and kv_fill.cuh by formula. [B], [FLOP]
#pragma once
#include "kernels/device/lm_head_work.hpp"

namespace tiersim::kernels {

// Reading and multiplying without the epilogue. rows: of each matrix.
constexpr Work skinny_work(std::int64_t matrices, std::int64_t rows, std::int64_t depth,
                           std::int64_t tokens, std::int64_t columns) {
  const std::int64_t token_tiles = rounded_up(tokens, 8 * columns) / (8 * columns);
  Work work;
  work.read_bytes = 2 * depth * (matrices * rows + tokens);
  work.requested_bytes = 2 * depth * (matrices * rows * token_tiles + tokens * (rows / 16));
  work.flops = 2 * matrices * rows * depth * tokens;
  work.issued_flops = 2 * matrices * rows * depth * token_tiles * 8 * columns;
  return work;
}

// Work of a bf16 output for each row and token, with `words` 4 B words loaded by each pair of rows.
constexpr Work skinny_output_work(std::int64_t rows, std::int64_t tokens, std::int64_t words) {
  Work work;
  work.written_bytes = 2 * rows * tokens;
  work.requested_bytes = 2 * rows * tokens + 4 * words * (rows / 2) * tokens;
  return work;
}

constexpr Work kv_fill_work(std::int64_t layers, std::int64_t inner, std::int64_t depth,
                            std::int64_t tokens, std::int64_t columns) {
  Work work = skinny_work(1, 2 * layers * inner, depth, tokens, columns) +
              skinny_output_work(2 * layers * inner, tokens, 2);
  work.read_bytes += 8 * tokens;  // factor and position
  return work;
}

// rows, tile_tokens: template parameters of the kernel.
constexpr Work kv_fill_wide_work(std::int64_t layers, std::int64_t inner, std::int64_t depth,
                                 std::int64_t tokens, std::int64_t rows, std::int64_t tile_tokens) {
  const std::int64_t matrices = 2 * layers;
  const std::int64_t tiles = rounded_up(inner, rows) / rows;
  const std::int64_t token_tiles = rounded_up(tokens, tile_tokens) / tile_tokens;
  const std::int64_t out = 2 * matrices * inner * tokens;
  Work work;
  work.read_bytes = 2 * depth * (matrices * inner + tokens) + 8 * tokens;
  work.written_bytes = out;
  work.requested_bytes = 2 * depth * matrices * (inner * token_tiles + tokens * tiles) + out;
  // A thread loads a factor for its rows of a token and a position for 8.
  const std::int64_t thread_rows = rows >= 128 && tile_tokens >= 64 ? 8 : 4;
  work.requested_bytes += matrices * tokens * (4 * (tiles * rows / thread_rows) + 4 * (inner / 8));
  work.flops = 2 * matrices * inner * depth * tokens;
  work.issued_flops =
      2 * matrices * tiles * rows * token_tiles * tile_tokens * rounded_up(depth, 64);
  return work;
}

}  // namespace tiersim::kernels
