// Geometry and work of lru_update.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

// A row that a step fetches or finds: its token; its slot in the buffer in the lower 16 bits of
// `place`, its position in the list of the step in the upper ones.
constexpr int kMovePositionShift = 16;

// Shared memory of a decision: the list, the slot of each entry, the victims' slots, and two sums
// of each warp.
TS_BOTH constexpr std::size_t lru_shared_bytes(int k, int threads) {
  return static_cast<std::size_t>(round_up(3 * k + 2 * (threads / 32), 2)) * sizeof(int);
}

// The buffer's table is read and written once, whatever the list holds.
constexpr Work lru_update_work(std::span<const int> lengths, int k, int slots, int threads) {
  Work work;
  for (const int length : lengths) {
    const std::int64_t count = length < k ? length : k;
    Work one;
    one.read_bytes = 4 + 4 * count + std::int64_t{8} * slots;
    one.written_bytes = std::int64_t{8} * slots + std::int64_t{4} * k + 8 * count + 4;
    one.requested_bytes =
        std::int64_t{4} * threads + 4 * count + std::int64_t{8} * slots + one.written_bytes;
    work = work + one;
  }
  return work;
}

}  // namespace tiersim::kernels
