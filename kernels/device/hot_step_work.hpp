// Work of kernels/device/hot_step.cuh by formula.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/lru_update_work.hpp"

namespace tiersim::kernels {

constexpr int kHotStepLoads = 4;  // of 16 B, in flight a thread

// Shared memory: a decision, and its moves.
TS_BOTH constexpr std::size_t hot_step_shared_bytes(int k, int threads) {
  return lru_shared_bytes(k, threads) + static_cast<std::size_t>(k) * 8;
}

struct HotStepShape {
  std::int64_t k = 0;
  std::int64_t slots = 0;
  std::int64_t row_units = 0;  // of 16 B
  std::int64_t blocks = 0;     // of a sequence
  std::int64_t threads = 0;
  bool staged = false;
};

// misses, lengths: of each sequence. Every block of a sequence reads the list and the table, and
// one of them writes the table; moves stay in shared memory.
constexpr Work hot_step_work(const HotStepShape& shape, std::span<const int> misses,
                             std::span<const int> lengths) {
  const std::int64_t row = 16 * shape.row_units;
  Work work;
  for (std::size_t b = 0; b < misses.size(); ++b) {
    const std::int64_t fetched = misses[b];
    const std::int64_t count = lengths[b] < shape.k ? std::int64_t{lengths[b]} : shape.k;
    const std::int64_t copied = shape.staged ? count : fetched;
    const std::int64_t decided = 4 * count + 8 * shape.slots;
    Work one;
    one.link_read_bytes = fetched * row;
    one.read_bytes = 4 + decided + 4 * fetched + (copied - fetched) * row;
    one.written_bytes =
        8 * shape.slots + 4 * shape.k + 4 + fetched * row + (shape.staged ? count * row : 0);
    one.requested_bytes = shape.blocks * (4 * shape.threads + decided) +
                          4 * fetched * shape.row_units + copied * row + one.written_bytes;
    work = work + one;
  }
  return work;
}

}  // namespace tiersim::kernels
