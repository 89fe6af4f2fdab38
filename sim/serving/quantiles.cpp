#include "sim/serving/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/student_t.hpp"
#include "sim/core/stats.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kLeastBatch = 10;

// 1 - (sum of squared differences of neighbours) / (2 * sum of squares), which is the lag-1
// autocorrelation with a correction for its ends. For k independent normal means it has mean 0 and
// variance (k - 2) / (k^2 - 1).
bool correlated(const std::vector<double>& means, const Tally& moments) {
  const auto k = static_cast<double>(means.size());
  double neighbours = 0;
  for (std::size_t i = 1; i < means.size(); ++i)
    neighbours += (means[i] - means[i - 1]) * (means[i] - means[i - 1]);
  const double squares = moments.variance() * (k - 1);
  if (squares == 0) return false;
  constexpr double kOneSided95 = 1.645;
  return 1 - neighbours / (2 * squares) > kOneSided95 * std::sqrt((k - 2) / (k * k - 1));
}

}  // namespace

std::int64_t nearest_rank(std::int64_t count, std::int64_t percent) {
  TS_EXPECTS(count >= 1 && percent >= 1 && percent <= 100, count, percent);
  return count / 100 * percent + (count % 100 * percent + 99) / 100;
}

double quantile(std::span<const double> sorted, std::int64_t percent) {
  const auto count = static_cast<std::int64_t>(sorted.size());
  return sorted[static_cast<std::size_t>(nearest_rank(count, percent) - 1)];
}

double quantile_between(std::span<const double> sorted, std::int64_t percent) {
  TS_EXPECTS(!sorted.empty() && percent >= 1 && percent <= 100, sorted.size(), percent);
  const std::size_t hundredths = (sorted.size() - 1) * static_cast<std::size_t>(percent);
  const double low = sorted[hundredths / 100];
  const double high = sorted[std::min(sorted.size() - 1, hundredths / 100 + 1)];
  return low + (high - low) * (static_cast<double>(hundredths % 100) / 100);
}

double quantile_below(std::span<const double> sorted, std::int64_t percent) {
  TS_EXPECTS(!sorted.empty() && percent >= 1 && percent < 100, sorted.size(), percent);
  return sorted[sorted.size() * static_cast<std::size_t>(percent) / 100];
}

std::optional<double> batch_half_width(std::span<const double> series) {
  for (const std::size_t batches : {std::size_t{20}, std::size_t{10}}) {
    const std::size_t size = series.size() / batches;
    if (size < kLeastBatch) continue;
    // Values that do not fill a batch are dropped at the beginning, which the warm-up may still
    // affect.
    std::span<const double> rest = series.last(batches * size);
    std::vector<double> means;
    Tally moments;
    for (; !rest.empty(); rest = rest.subspan(size)) {
      double sum = 0;
      for (const double value : rest.first(size)) sum += value;
      means.push_back(sum / static_cast<double>(size));
      moments.add(means.back());
    }
    if (correlated(means, moments)) continue;
    return student_t_975(moments.count() - 1) *
           std::sqrt(moments.variance() / static_cast<double>(batches));
  }
  return std::nullopt;
}

}  // namespace tiersim
