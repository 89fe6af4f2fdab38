// Work of kernels/device/residual_vote.cuh by formula. [B], [FLOP]
#pragma once
#include "kernels/device/lm_head_work.hpp"

namespace tiersim::kernels {

// cosine: with the previous state (three sums); otherwise with one row of weights (two sums).
constexpr Work residual_vote_work(std::int64_t rows, std::int64_t depth, bool cosine,
                                  bool first_layer) {
  const std::int64_t state = 2 * rows * depth;
  Work work;
  work.read_bytes = 2 * state + (cosine ? state : 2 * depth);
  work.written_bytes = state + 8 * rows;
  work.requested_bytes = 4 * state + 8 * rows;
  work.flops = 2 * (cosine ? 3 : 2) * rows * depth;
  work.issued_flops = work.flops;
  return work + vote_work(rows, first_layer);
}

constexpr Work exit_gate_work() {
  Work work;
  work.read_bytes = 4;
  work.written_bytes = 8;
  work.requested_bytes = 12;
  return work;
}

}  // namespace tiersim::kernels
