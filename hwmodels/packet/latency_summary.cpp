#include "hwmodels/packet/latency_summary.hpp"

#include <algorithm>
#include <cstddef>

namespace tiersim {
namespace {

// The index of this nearest rank.
std::ptrdiff_t rank_of(std::size_t count, std::size_t percent) {
  return static_cast<std::ptrdiff_t>((count * percent + 99) / 100) - 1;
}

}  // namespace

LatencySummary summarise(std::vector<Duration>& samples) {
  if (samples.empty()) return {};
  Int128 sum = 0;
  for (const Duration each : samples) sum += each.count();
  const auto count = static_cast<Int128>(samples.size());
  // Selecting takes a fraction of the time of sorting.
  const auto p50 = samples.begin() + rank_of(samples.size(), 50);
  const auto p99 = samples.begin() + rank_of(samples.size(), 99);
  std::nth_element(samples.begin(), p50, samples.end());
  const Duration median = *p50;
  std::nth_element(p50, p99, samples.end());
  return {.mean = Duration(static_cast<std::int64_t>((sum + count - 1) / count)),
          .p50 = median,
          .p99 = *p99,
          .longest = *std::max_element(p99, samples.end())};
}

}  // namespace tiersim
