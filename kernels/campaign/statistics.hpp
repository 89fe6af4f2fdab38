// Statistics of repeated measurements.
#pragma once
#include <cstddef>
#include <vector>

namespace tiersim::kernels::bench {

// The median with its order-statistic interval: the k-th smallest and k-th largest value, where k
// is the largest with P(Binomial(n, 1/2) < k) <= 2.5 %. The true median lies between them with at
// least 95 % probability for any distribution (Hahn & Meeker, Statistical Intervals, 5.2). Below
// six values no such k exists; the interval is then the whole range, and `covers` is its
// probability.
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;
  double covers = 0;  // probability that the interval holds the true median
};
MedianInterval median_interval(std::vector<double> values);  // at least one value

// Linear interpolation between order statistics: 0 is the smallest, 1 the largest (R's type 7).
double percentile(std::vector<double> values, double share);

struct Spread {
  double min = 0, p5 = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};
Spread spread(std::vector<double> values);

// Least squares of y over x, for at least two different x. Over the nodes of a graph the slope is
// the time of a dependent node, and the intercept is the overhead of a launch.
struct Line {
  double slope = 0;
  double intercept = 0;
};
Line fit_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace tiersim::kernels::bench
