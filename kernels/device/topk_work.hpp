// Geometry, formats and work of topk.
#pragma once
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

constexpr int kTopkThreads = 256;
constexpr int kTopkLoads = 4;  // of 16 B, in flight a thread

// Score: the stored type. Key: the type in the selection. kInfinity: bits of +inf; larger bits are
// NaN.
struct Float32 {
  using Score = float;
  using Key = std::uint32_t;
  static constexpr int kBits = 32;
  static constexpr unsigned kInfinity = 0x7f800000U;
};
struct Float16 {
  using Score = std::uint16_t;
  using Key = std::uint16_t;
  static constexpr int kBits = 16;
  static constexpr unsigned kInfinity = 0x7c00U;
};
struct BFloat16 {
  using Score = std::uint16_t;
  using Key = std::uint16_t;
  static constexpr int kBits = 16;
  static constexpr unsigned kInfinity = 0x7f80U;
};

template <class Format, class Id>
TS_BOTH constexpr SelectLayout topk_layout(int capacity, int k) {
  return select_layout<typename Format::Key, Id>(capacity, k);
}

// Scores are read once in units of 16 B, where the choice is not trivial.
template <class Format>
constexpr Work topk_work(std::span<const int> lengths, int rows_per_length, int k, int id_bytes) {
  Work work;
  work.read_bytes = static_cast<std::int64_t>(lengths.size()) * 4;
  for (const int length : lengths) {
    Work row;
    row.written_bytes = std::int64_t{k} * id_bytes;
    row.requested_bytes = row.written_bytes + kTopkThreads * 4;
    if (length > k) {
      row.read_bytes = std::int64_t{round_up(length * Format::kBits / 8, 16)};
      row.requested_bytes += row.read_bytes;
    }
    for (int i = 0; i < rows_per_length; ++i) work = work + row;
  }
  return work;
}

}  // namespace tiersim::kernels
