// Work of kernels/device/sparse_latent.cuh by formula, without the combine.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/dense_decode_work.hpp"  // filled_splits
#include "kernels/device/sparse_rows.hpp"

namespace tiersim::kernels {

struct SparseLatentShape {
  std::int64_t heads = 0;
  std::int64_t k = 0;
  std::int64_t splits = 1;
  // Parameters of the kernel's layout.
  std::int64_t block_heads = 0;
  std::int64_t threads = 0;
  std::int64_t tile = 0;  // rows; lists are padded to it
};

inline Work sparse_latent_work(const SparseLatentShape& shape, std::span<const int> lengths) {
  constexpr std::int64_t kDepth = LatentRow::kLatent + LatentRow::kRope;
  constexpr std::int64_t kListed = LatentRow::kBytes + 4;  // a row and its place in the list
  const std::int64_t head_blocks = shape.heads / shape.block_heads;
  const std::int64_t queries = 2 * kDepth * shape.heads;
  Work work;
  for (const int length : lengths) {
    const std::int64_t count = length < shape.k ? std::int64_t{length} : shape.k;
    const std::int64_t tiles = (count + shape.tile - 1) / shape.tile;
    const std::int64_t parts = filled_splits(count, shape.splits, shape.tile);
    Work one;
    one.read_bytes = 4 + kListed * count + (count > 0 ? queries : 0);
    one.written_bytes = shape.splits == 1
                            ? 2 * LatentRow::kLatent * shape.heads
                            : 4 * shape.heads * (LatentRow::kLatent * parts + shape.splits);
    // Blocks that share a list each load it and its rows; every thread of a block loads the length.
    one.requested_bytes = kListed * count * head_blocks + queries * parts +
                          4 * shape.threads * head_blocks * shape.splits + one.written_bytes;
    one.flops = 2 * (kDepth + LatentRow::kLatent) * count * shape.heads;
    one.issued_flops = 2 * (kDepth + LatentRow::kLatent) * tiles * shape.tile * shape.heads;
    work = work + one;
  }
  return work;
}

}  // namespace tiersim::kernels
