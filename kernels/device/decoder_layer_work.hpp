// Work of kernels/device/decoder_layer.cuh and step_attention.cuh by formula. [B], [FLOP]
#pragma once
#include "kernels/device/kv_fill_work.hpp"

namespace tiersim::kernels {

// The share of one sequence (all heads) in step_attention over `length` tokens.
constexpr Work step_sequence_work(std::int64_t heads, std::int64_t length, bool biased) {
  Work work;
  work.read_bytes = heads * (128 + 2 * 128 * length) + 4;
  work.written_bytes = heads * 128;
  // Each of 16 groups of 8 lanes loads the query, every thread loads the length, and 8 lanes load a
  // bias.
  work.requested_bytes =
      heads * (16 * 128 + 128 * 4 + 2 * 128 * length + (biased ? 8 * 4 * length : 0) + 128);
  work.flops = 4 * heads * 64 * length;
  // Scores are computed for whole rounds of 64 tokens. So are values, but not by groups without a
  // token.
  const std::int64_t idle = length == 0 || length >= 16 ? 0 : 4 * (16 - length);
  work.issued_flops = 2 * heads * 64 * (2 * rounded_up(length, 64) - idle);
  return work;
}
// The biases that are read by any sequence; longest: length of the longest sequence.
constexpr Work step_bias_work(std::int64_t heads, std::int64_t longest) {
  Work work;
  work.read_bytes = 4 * heads * longest;
  return work;
}

struct LayerShape {
  std::int64_t depth = 0;
  std::int64_t wide = 0;  // numbers of the feed-forward part
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  std::int64_t columns = 1;  // of the kernels' template
  constexpr std::int64_t inner() const { return 64 * heads; }
};

// project_wide without its epilogue. rows: a multiple of 64.
constexpr Work wide_work(std::int64_t rows, std::int64_t depth, std::int64_t tokens) {
  const std::int64_t token_tiles = rounded_up(tokens, 64) / 64;
  Work work;
  work.read_bytes = 2 * depth * (rows + tokens);
  work.requested_bytes = 2 * depth * (rows * token_tiles + tokens * (rows / 64));
  work.flops = 2 * rows * depth * tokens;
  work.issued_flops = 2 * rows * rounded_up(depth, 64) * token_tiles * 64;
  return work;
}

// The projections of a layer that run by project_wide.
enum class WideParts { none, large, all };  // large: queries, keys, values; the gated part

// The six projections of a layer.
constexpr Work layer_projections_work(const LayerShape& s, WideParts parts) {
  const bool large = parts != WideParts::none;
  const bool all = parts == WideParts::all;
  const auto product = [&](bool wide, std::int64_t matrices, std::int64_t rows,
                           std::int64_t depth) {
    return wide ? wide_work(matrices * rows, depth, s.tokens)
                : skinny_work(matrices, rows, depth, s.tokens, s.columns);
  };
  const auto residual = [&](std::int64_t depth) {
    Work work = product(all, 1, s.depth, depth) + skinny_output_work(s.depth, s.tokens, 1);
    work.read_bytes += 2 * s.depth * s.tokens;
    return work;
  };
  // A position is loaded for two rows of keys and values, or for eight.
  Work qkv =
      product(large, 1, 3 * s.inner(), s.depth) + skinny_output_work(3 * s.inner(), s.tokens, 0);
  qkv.read_bytes += 4 * s.tokens;
  qkv.requested_bytes += 4 * (2 * s.inner() / (large ? 8 : 2)) * s.tokens;
  return qkv + residual(s.inner()) + product(all, 1, s.inner(), s.depth) +
         skinny_output_work(s.inner(), s.tokens, 0) + residual(s.inner()) +
         product(large, 2, s.wide, s.depth) + skinny_output_work(s.wide, s.tokens, 0) +
         residual(s.wide);
}

}  // namespace tiersim::kernels
