// Geometry and work of topk_long.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

constexpr int kTopkLongThreads = 1024;
constexpr int kTopkLongLoads = 4;      // of 16 B, in flight a thread
constexpr int kTopkLongReads = 4;      // of every score by digits: three digits, and the choice
constexpr int kTopkLongMost = 57343;   // of k: counts of a chunk and of k share 16 bits
constexpr int kTopkLongRoom = 6144;    // units of 16 B that candidates fill at most
constexpr int kTopkLongSample = 2048;  // units of 16 B that an estimate reads
constexpr int kTopkLongSampledScores = 262144;  // of a row: a bit each in shared memory
constexpr int kTopkLongSampledMost = 2560;      // of k: some 5000 candidates of the longest row

// How a row is chosen from. held: all its scores are candidates. sampled: those above an estimate
// are. digits: none are held, and the row is read for each digit.
enum class TopkLongWay { held, sampled, digits };
TS_BOTH constexpr TopkLongWay topk_long_way(int length, int k) {
  if (length <= 4 * kTopkLongRoom) return TopkLongWay::held;
  const bool sampled = length <= kTopkLongSampledScores && k <= kTopkLongSampledMost;
  return sampled ? TopkLongWay::sampled : TopkLongWay::digits;
}

// Offsets [B] in shared memory: words of warps; the bin that was found; the count of units and the
// last tie; the histogram; units of candidates; the first token of each unit; a bit a token. The
// indices are staged over the histogram and the candidates.
struct TopkLongLayout {
  static constexpr std::size_t kTotals = 0;
  static constexpr std::size_t kFound = std::size_t{3} * (kTopkLongThreads / 32) * sizeof(unsigned);
  static constexpr std::size_t kCount = kFound + 4 * sizeof(int);
  static constexpr std::size_t kLastTie = kCount + sizeof(int);
  static constexpr std::size_t kScratch = kCount + 4 * sizeof(int);
  static constexpr std::size_t kUnits = kScratch + kBins * sizeof(int);
  std::size_t tokens, bits, bytes;
};
TS_BOTH constexpr TopkLongLayout topk_long_layout(int capacity, int k) {
  int units = 0;
  int tokens = 0;  // of the longest row that has candidates
  if (k < 4 * kTopkLongRoom) {
    const int most = k <= kTopkLongSampledMost ? kTopkLongSampledScores : 4 * kTopkLongRoom;
    units = capacity / 4 < kTopkLongRoom ? capacity / 4 : kTopkLongRoom;
    tokens = capacity < most ? capacity : most;
  }
  const auto staged = TopkLongLayout::kScratch + static_cast<std::size_t>(round_up(k * 4, 16));
  TopkLongLayout layout{};
  layout.tokens = TopkLongLayout::kUnits + static_cast<std::size_t>(units) * 16;
  layout.bits = layout.tokens + static_cast<std::size_t>(units) * sizeof(int);
  layout.bytes = layout.bits + static_cast<std::size_t>(round_up(tokens, 32) / 8);
  layout.bytes = staged > layout.bytes ? staged : layout.bytes;
  return layout;
}
TS_BOTH constexpr std::size_t topk_long_shared_bytes(int capacity, int k) {
  return topk_long_layout(capacity, k).bytes;
}

// A row whose scores are held is read once, a sampled one once more in part, and one that is read
// by digits four times; from HBM once where L2 holds the row. misjudged: no estimate holds, so that
// sampled rows are then read by digits as well. Scores decide that, not lengths: where some
// estimates fail and others hold, the bytes requested lie between the two.
constexpr Work topk_long_work(std::span<const int> lengths, int k, bool misjudged = false) {
  Work work;
  for (const int length : lengths) {
    Work row;
    row.read_bytes = 4;
    row.written_bytes = std::int64_t{4} * k;
    row.requested_bytes = row.written_bytes + kTopkLongThreads * 4;
    if (length > k) {
      const std::int64_t scores = std::int64_t{4} * round_up(length, 4);
      const TopkLongWay way = topk_long_way(length, k);
      row.read_bytes += scores;
      if (way != TopkLongWay::digits) row.requested_bytes += scores;
      if (way == TopkLongWay::sampled) row.requested_bytes += kTopkLongSample * 16;
      if (way == TopkLongWay::digits || (way == TopkLongWay::sampled && misjudged)) {
        row.requested_bytes += kTopkLongReads * scores;
      }
    }
    work = work + row;
  }
  return work;
}

}  // namespace tiersim::kernels
