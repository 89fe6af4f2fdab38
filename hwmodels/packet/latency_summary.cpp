#include "hwmodels/packet/latency_summary.hpp"

#include <algorithm>

namespace tiersim {
namespace {

Duration nearest_rank(const std::vector<Duration>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[rank - 1];
}

}  // namespace

LatencySummary summarise(std::vector<Duration>& samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  Int128 sum = 0;
  for (const Duration each : samples) sum += each.count();
  const auto count = static_cast<Int128>(samples.size());
  return {.mean = Duration(static_cast<std::int64_t>((sum + count - 1) / count)),
          .p50 = nearest_rank(samples, 50),
          .p99 = nearest_rank(samples, 99),
          .longest = samples.back()};
}

}  // namespace tiersim
