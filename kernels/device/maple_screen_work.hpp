// Geometry and work of maple_screen.
#pragma once
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

constexpr int kScreenThreads = 256;
template <int R>
constexpr int kScreenLanes = R / 16;  // lanes that share a token
// Loads of 16 B in flight for each thread: the registers left at five blocks an SM, in whole
// tokens.
template <int R>
constexpr int kScreenLoads = R == 64 ? 4 : 6;

// Scores are in [-R 128 127, R 128 128]. Keys are shifted above 0, since 0 means no token.
template <int R>
constexpr int kScreenKeyOfZero = R * 128 * 128 + 1;
template <int R>
constexpr int kScreenKeyBits = R == 16   ? 20
                               : R == 32 ? 21
                                         : 22;

template <class Id>
TS_BOTH constexpr SelectLayout maple_screen_layout(int capacity, int k) {
  return select_layout<std::uint32_t, Id>(capacity, k);
}

// Keys are read once, where the choice is not trivial. Every thread loads the length and its piece
// of the query.
template <int R>
constexpr Work maple_screen_work(std::span<const int> lengths, int heads, int k, int id_bytes) {
  Work work;
  work.read_bytes = static_cast<std::int64_t>(lengths.size()) * 4;
  for (const int length : lengths) {
    Work head;  // of one head of this sequence
    head.written_bytes = std::int64_t{k} * id_bytes;
    head.requested_bytes = head.written_bytes + kScreenThreads * 4;
    if (length > k) {
      head.read_bytes = std::int64_t{length} * R + R;
      head.requested_bytes += std::int64_t{length} * R + kScreenThreads * 16;
      head.flops = std::int64_t{length} * R * 2;
      head.issued_flops = std::int64_t{round_up(length, kKeysPerStep<std::uint32_t>)} * R * 2;
    }
    for (int i = 0; i < heads; ++i) work = work + head;
  }
  return work;
}

}  // namespace tiersim::kernels
