// Geometry and work of SparQ's first step.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

constexpr int kSparqThreads = 256;
constexpr int kSparqLoads = 4;                           // of 16 B, in flight a thread
constexpr int kSparqTokensOfCopies = 8 * kSparqThreads;  // of a block, two copies
constexpr int kSparqTokensOfOneCopy = kSparqThreads;     // of a block, one copy
constexpr std::size_t sparq_shared_bytes(int d, int r) {
  return static_cast<std::size_t>(d) * 4 + static_cast<std::size_t>(r) * 8;
}

// Both forms read r components of every token. Every thread of a block with tokens loads the
// length, and D threads load the query.
constexpr Work sparq_scores_work(std::span<const int> lengths, int heads, int capacity, int d,
                                 int r, bool two_copies) {
  const int tokens_of_block = two_copies ? kSparqTokensOfCopies : kSparqTokensOfOneCopy;
  const std::int64_t blocks = (capacity + tokens_of_block - 1) / tokens_of_block;
  Work work;
  work.read_bytes = static_cast<std::int64_t>(lengths.size()) * 4;
  for (const int length : lengths) {
    const std::int64_t with_tokens = (length + tokens_of_block - 1) / tokens_of_block;
    const std::int64_t units = round_up(length, 8);
    const std::int64_t tokens = two_copies ? units : length;
    Work head;
    head.read_bytes = tokens * r * 2 + (length > 0 ? d * 2 : 0);
    head.written_bytes = units * 4;
    head.requested_bytes =
        tokens * r * 2 + units * 4 + blocks * kSparqThreads * 4 + with_tokens * d * 2;
    head.flops = std::int64_t{length} * r * 2;
    head.issued_flops = (two_copies ? units : std::int64_t{round_up(length, 32)}) * r * 2;
    for (int i = 0; i < heads; ++i) work = work + head;
  }
  return work;
}

}  // namespace tiersim::kernels
