#pragma once
// Several timings of one case merged into one: the median of their medians, an interval that holds
// them all, and their spread.
#include <optional>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"

namespace tiersim {

/// One process (or run, or row) of a case [s]; low = high = median where it has no interval.
struct TimingRepeat {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// The order-statistic interval of the median of single times: from the k-th smallest to the k-th
/// largest, k the largest with P(Binomial(n, 1/2) < k) <= 2.5 %, hence 95 % whatever the
/// distribution; the whole range below six values, where there is no such k. Source: Hahn and
/// Meeker, Statistical Intervals, 5.2. At least one value.
TimingRepeat order_interval(std::vector<double> seconds);

/// Sets seconds, low, high and repeat_noise of `timing`, for at least one repeat. The interval is
/// that of the median process, widened until it holds the medians of all. A refusal is returned
/// where a repeat's median is not within its own interval ("bad interval"), or where two repeats
/// are apart by more than a factor of 2 beyond their intervals ("repeats apart"), since neither of
/// them can be preferred. The fields of `timing` are set all the same.
[[nodiscard]] std::optional<TimingRefusal> merge_repeats(const std::vector<TimingRepeat>& repeats,
                                                         TimingCase& timing);

}  // namespace tiersim
