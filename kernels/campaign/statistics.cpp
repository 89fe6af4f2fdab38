#include "kernels/campaign/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tiersim::kernels::bench {
namespace {

void expect_values(bool there) {
  if (!there) throw std::invalid_argument("statistics of too few values");
}

double at_share(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace

MedianInterval median_interval(std::vector<double> values) {
  expect_values(!values.empty());
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  // below = P(Binomial(n, 1/2) < k), summed while it stays within 2.5 %.
  double term = std::exp2(-static_cast<double>(n));
  double below = 0;
  std::size_t k = 0;
  while (k < (n + 1) / 2 && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  const std::size_t first = k == 0 ? 0 : k - 1;
  // The whole range: all values on one side
  if (k == 0) below = std::exp2(-static_cast<double>(n));
  return {at_share(values, 0.5), values[first], values[n - 1 - first], 1 - 2 * below};
}

double percentile(std::vector<double> values, double share) {
  expect_values(!values.empty() && share >= 0 && share <= 1);
  std::sort(values.begin(), values.end());
  return at_share(values, share);
}

Spread spread(std::vector<double> values) {
  expect_values(!values.empty());
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return at_share(values, share); };
  return {values.front(), at(.05), at(.25), at(.5),       at(.75),
          at(.9),         at(.95), at(.99), values.back()};
}

Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  expect_values(x.size() == y.size() && !x.empty());
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  expect_values(xx > 0);
  const double slope = xy / xx;
  return {slope, mean_y - slope * mean_x};
}

}  // namespace tiersim::kernels::bench
