// Work of kernels/device/lm_head.cuh by formula. [B], [FLOP]
#pragma once
#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

// rows, tile_tokens: template parameters of the kernel.
constexpr Work lm_head_work(std::int64_t vocabulary, std::int64_t tokens, std::int64_t depth,
                            std::int64_t rows, std::int64_t tile_tokens) {
  const std::int64_t tiles = rounded_up(vocabulary, rows) / rows;
  const std::int64_t token_tiles = rounded_up(tokens, tile_tokens) / tile_tokens;
  const std::int64_t partials = 16 * tokens * tiles;
  Work work;
  work.read_bytes = 2 * depth * (vocabulary + tokens);
  work.written_bytes = partials;
  work.requested_bytes = 2 * depth * (vocabulary * token_tiles + tokens * tiles) + partials;
  work.flops = 2 * vocabulary * tokens * depth;
  work.issued_flops = 2 * tiles * rows * token_tiles * tile_tokens * rounded_up(depth, 64);
  return work;
}

// Work of the vote: one word for a block of 4 rows is ANDed into the status. Flags are read from
// the second layer on.
constexpr Work vote_work(std::int64_t rows, bool first_layer) {
  Work work;
  work.read_bytes = 4 + (first_layer ? 0 : 4 * rows);
  work.written_bytes = 4 + 4 * rows;
  work.requested_bytes = 8 * (rounded_up(rows, 4) / 4) + 4 * rows + (first_layer ? 0 : 4 * rows);
  return work;
}

// A warp loads the last partial again where its 256 exceed the number of partials.
constexpr Work lm_head_combine_work(std::int64_t tiles, std::int64_t tokens, bool first_layer) {
  Work work;
  work.read_bytes = 16 * tokens * tiles;
  work.written_bytes = 16 * tokens;
  work.requested_bytes = 16 * tokens * rounded_up(tiles, 256) + work.written_bytes;
  return work + vote_work(tokens, first_layer);
}

}  // namespace tiersim::kernels
