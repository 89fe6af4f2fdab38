#include "hwmodels/calibrate/read/timing_repeats.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// Processes of one case differ far less, by their clocks and the place of their memory.
constexpr double kMostApart = 2;

std::string us(double seconds) {
  return fmt::format("{:.5g} us", seconds * 1e6);
}

std::optional<TimingRefusal> problem_of(const std::vector<TimingRepeat>& repeats,
                                        const TimingCase& timing) {
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const auto& [median, low, high] = repeats[i];
    if (low <= median && median <= high) continue;
    const std::string which =
        repeats.size() == 1
            ? "it has a"
            : fmt::format("of its {} repeats, number {} has a", repeats.size(), i + 1);
    return TimingRefusal{
        timing.where, timing.name, "bad interval",
        fmt::format("{} median of {} that is not within its interval from {} to {}", which,
                    us(median), us(low), us(high))};
  }
  const auto [shortest, longest] = std::ranges::minmax_element(repeats, {}, &TimingRepeat::median);
  if (longest->low <= kMostApart * shortest->high) return std::nullopt;
  return TimingRefusal{
      timing.where, timing.name, "repeats apart",
      fmt::format("of its {} repeats one takes {} and another {}: more than a factor of {:g} apart "
                  "beyond their intervals",
                  repeats.size(), us(shortest->median), us(longest->median), kMostApart)};
}

}  // namespace

TimingRepeat order_interval(std::vector<double> seconds) {
  TS_EXPECTS(!seconds.empty());
  std::ranges::sort(seconds);
  const std::size_t n = seconds.size();
  // below = P(Binomial(n, 1/2) < k), while it stays within 2.5 %. Both are scaled by 2^-exponent,
  // since 2^-n itself underflows a double from n = 1075 on.
  constexpr int kStep = 500;
  auto exponent = -static_cast<int>(n);
  double term = 1;
  double below = 0;
  std::size_t k = 0;
  while (k < (n + 1) / 2 && std::ldexp(below + term, exponent) <= 0.025) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
    if (term < std::ldexp(1.0, kStep)) continue;
    term = std::ldexp(term, -kStep);
    below = std::ldexp(below, -kStep);
    exponent += kStep;
  }
  const std::size_t first = k == 0 ? 0 : k - 1;
  return {median_of(seconds), seconds[first], seconds[n - 1 - first]};
}

std::optional<TimingRefusal> merge_repeats(const std::vector<TimingRepeat>& repeats,
                                           TimingCase& timing) {
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
  return problem_of(repeats, timing);
}

}  // namespace tiersim
