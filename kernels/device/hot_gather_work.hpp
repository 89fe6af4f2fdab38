// Work of kernels/device/hot_gather.cuh by formula.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

constexpr int kHotGatherThreads = 256;
constexpr int kHotGatherLoads = 8;  // of 16 B, in flight a thread

struct HotGatherShape {
  std::int64_t k = 0;
  std::int64_t row_units = 0;  // of 16 B
  std::int64_t blocks = 0;     // of a sequence
  bool staged = false;
};

// misses, lengths: of each sequence. A row that is fetched crosses the link once and is written to
// its slot; staged rows are written once more, and those found are read from the buffer.
constexpr Work hot_gather_work(const HotGatherShape& shape, std::span<const int> misses,
                               std::span<const int> lengths) {
  const std::int64_t row = 16 * shape.row_units;
  Work work;
  for (std::size_t b = 0; b < misses.size(); ++b) {
    const std::int64_t fetched = misses[b];
    const std::int64_t count = lengths[b] < shape.k ? std::int64_t{lengths[b]} : shape.k;
    const std::int64_t copied = shape.staged ? count : fetched;
    const std::int64_t found = copied - fetched;
    const std::int64_t counts = shape.staged ? 8 : 4;
    Work one;
    one.link_read_bytes = fetched * row;
    one.read_bytes = counts + 8 * copied + 4 * fetched + found * row;
    one.written_bytes = fetched * row + (shape.staged ? count * row : 0);
    // Each unit of 16 B loads its move, and each fetched one the place of its row.
    one.requested_bytes = counts * kHotGatherThreads * shape.blocks + 8 * copied * shape.row_units +
                          4 * fetched * shape.row_units + copied * row + one.written_bytes;
    work = work + one;
  }
  return work;
}

}  // namespace tiersim::kernels
