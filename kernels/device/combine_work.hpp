// Work of kernels/device/combine.cuh by formula.
#pragma once
#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

// filled: pairs of a split and a row with at least one token.
constexpr Work combine_splits_work(std::int64_t columns, std::int64_t splits, std::int64_t rows,
                                   std::int64_t filled) {
  Work work;
  work.read_bytes = 4 * columns * filled + 4 * splits * rows;
  work.written_bytes = 2 * columns * rows;
  // Each warp, of 128 columns, loads the log-sum-exp of its row.
  work.requested_bytes =
      4 * columns * filled + 4 * splits * rows * (columns / 128) + work.written_bytes;
  work.flops = 2 * columns * filled;
  work.issued_flops = work.flops;
  return work;
}

}  // namespace tiersim::kernels
