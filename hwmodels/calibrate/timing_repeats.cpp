#include "hwmodels/calibrate/timing_repeats.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hwmodels/calibrate/order_statistics.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// 2^-1000 is still a double, so that the sum below is one too.
constexpr std::size_t kMostRounds = 1000;

}  // namespace

TimingRepeat order_interval(std::vector<double> seconds) {
  TS_EXPECTS(!seconds.empty() && seconds.size() <= kMostRounds, seconds.size());
  std::ranges::sort(seconds);
  const std::size_t n = seconds.size();
  // below = P(Binomial(n, 1/2) < k), while it stays within 2.5 %.
  double term = std::ldexp(1.0, -static_cast<int>(n));
  double below = 0;
  std::size_t k = 0;
  while (k < (n + 1) / 2 && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  const std::size_t first = k == 0 ? 0 : k - 1;
  return {median_of(seconds), seconds[first], seconds[n - 1 - first]};
}

void merge_repeats(const std::vector<TimingRepeat>& repeats, TimingCase& timing) {
  TS_EXPECTS(!repeats.empty());
  std::vector<double> medians;
  std::vector<double> lows;
  std::vector<double> highs;
  for (const TimingRepeat& repeat : repeats) {
    medians.push_back(repeat.median);
    lows.push_back(repeat.low);
    highs.push_back(repeat.high);
  }
  const auto [least, most] = std::ranges::minmax(medians);
  timing.seconds = median_of(medians);
  timing.low = std::min(median_of(lows), least);
  timing.high = std::max(median_of(highs), most);
  timing.repeat_noise = (most - least) / 2 / timing.seconds;
}

}  // namespace tiersim
