// Geometry and work of topk_long.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

constexpr int kTopkLongThreads = 512;
constexpr int kTopkLongLoads = 4;     // of 16 B, in flight a thread
constexpr int kTopkLongReads = 4;     // of every score: three digits, and the choice
constexpr int kTopkLongMost = 57343;  // of k: counts of a chunk and of k share 16 bits

// Offsets [B] in shared memory: sums of warps, by turns of two; the bin that was found; the
// histogram, and the indices staged over it.
struct TopkLongLayout {
  static constexpr std::size_t kTotals = 0;
  static constexpr std::size_t kFound = std::size_t{2} * (kTopkLongThreads / 32) * sizeof(unsigned);
  static constexpr std::size_t kScratch = kFound + 4 * sizeof(int);
};
TS_BOTH constexpr std::size_t topk_long_shared_bytes(int k) {
  const auto staged = static_cast<std::size_t>(round_up(k * 4, 16));
  const std::size_t histogram = kBins * sizeof(int);
  return TopkLongLayout::kScratch + (staged > histogram ? staged : histogram);
}

// Every score is read four times, from HBM once where L2 holds the row.
constexpr Work topk_long_work(std::span<const int> lengths, int k) {
  Work work;
  for (const int length : lengths) {
    Work row;
    row.read_bytes = 4;
    row.written_bytes = std::int64_t{4} * k;
    row.requested_bytes = row.written_bytes + kTopkLongThreads * 4;
    if (length > k) {
      const std::int64_t scores = std::int64_t{4} * round_up(length, 4);
      row.read_bytes += scores;
      row.requested_bytes += kTopkLongReads * scores;
    }
    work = work + row;
  }
  return work;
}

}  // namespace tiersim::kernels
