#include "workloads/sessions/law_fits.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"
#include "workloads/sessions/session_laws.hpp"

namespace tiersim {
namespace {

struct Logs {
  double mean = 0;
  double deviation = 0;
};

// Of positive values.
template <class Value>
Logs logs_of(std::span<const Value> values, const std::function<double(Value)>& number) {
  Logs out;
  for (const Value value : values) out.mean += portable_log(number(value));
  out.mean /= static_cast<double>(values.size());
  double squares = 0;
  for (const Value value : values) {
    const double off = portable_log(number(value)) - out.mean;
    squares += off * off;
  }
  if (values.size() > 1)
    out.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return out;
}

template <class Value>
bool all_alike(std::span<const Value> values) {
  return std::ranges::all_of(values, [&](Value value) { return value == values.front(); });
}

template <class Value>
std::vector<double> numbers(std::span<const Value> values,
                            const std::function<double(Value)>& number) {
  std::vector<double> out;
  for (const Value value : values) out.push_back(number(value));
  return out;
}

constexpr int kDraws = 20'000;  // of a law, to compare it with values

template <class Draw>
std::vector<double> drawn(const Draw& draw) {
  Rng rng(1, "law_fits");
  std::vector<double> out;
  for (int i = 0; i < kDraws; ++i) out.push_back(draw(rng));
  return out;
}

double as_number(std::int64_t value) {
  return static_cast<double>(value);
}
double as_seconds(Duration value) {
  return to_seconds(value);
}

}  // namespace

LengthConfig fit_length(std::span<const std::int64_t> values) {
  TS_EXPECTS(!values.empty());
  const auto [least, most] = std::ranges::minmax(values);
  if (least == most) return {.tokens = least};
  const Logs logs = logs_of<std::int64_t>(values, as_number);
  const auto median = static_cast<std::int64_t>(std::llround(portable_exp(logs.mean)));
  return {.distribution = LengthDistribution::lognormal,
          .tokens = std::clamp(median, least, most),
          .sigma = std::min(10.0, logs.deviation),
          .min = least,
          .max = most};
}

CountConfig fit_count(std::span<const std::int64_t> seen_counts) {
  TS_EXPECTS(!seen_counts.empty());
  // A law has a largest count, which what is drawn above becomes.
  std::vector<std::int64_t> limited(seen_counts.begin(), seen_counts.end());
  for (std::int64_t& count : limited) count = std::min(count, kMostTurns);
  const std::span<const std::int64_t> values = limited;
  if (all_alike(values)) return {.count = values.front()};
  const std::vector<double> seen = numbers<std::int64_t>(values, as_number);
  double sum = 0;
  for (const double value : seen) sum += value;
  const std::int64_t most = *std::ranges::max_element(values);
  const CountConfig geometric{.distribution = CountDistribution::geometric,
                              .mean = sum / static_cast<double>(seen.size()),
                              .max = most};
  const Logs logs = logs_of<std::int64_t>(values, as_number);
  const CountConfig lognormal{.distribution = CountDistribution::lognormal,
                              .median = portable_exp(logs.mean),
                              .sigma = std::min(10.0, logs.deviation),
                              .max = most};
  const auto off = [&](const CountConfig& law) {
    return ks_distance(seen, drawn([&](Rng& rng) { return as_number(draw_count(law, rng)); }));
  };
  return off(geometric) <= off(lognormal) ? geometric : lognormal;
}

PauseConfig fit_pause(std::span<const Duration> values) {
  TS_EXPECTS(!values.empty());
  if (all_alike(values)) return {.time = values.front()};
  const std::vector<double> seen = numbers<Duration>(values, as_seconds);
  double sum = 0;
  for (const double value : seen) sum += value;
  const auto time = [](double seconds) { return Duration(std::llround(seconds * 1e12)); };
  const PauseConfig exponential{.distribution = PauseDistribution::exponential,
                                .time = time(sum / static_cast<double>(seen.size()))};
  std::vector<Duration> positive;  // a lognormal law has no zeros, and may be closer even so
  std::ranges::copy_if(values, std::back_inserter(positive),
                       [](Duration value) { return value > Duration{}; });
  const Logs logs = logs_of<Duration>(positive, as_seconds);
  const Duration most = std::ranges::max(values);
  const PauseConfig lognormal{.distribution = PauseDistribution::lognormal,
                              .time = std::min(most, time(portable_exp(logs.mean))),
                              .sigma = std::min(10.0, logs.deviation),
                              .max = most};
  const auto off = [&](const PauseConfig& law) {
    return ks_distance(seen, drawn([&](Rng& rng) { return as_seconds(draw_pause(law, rng)); }));
  };
  return off(exponential) <= off(lognormal) ? exponential : lognormal;
}

// The likelihood has one maximum, which the search by thirds finds.
double fit_zipf(std::span<const std::int64_t> counts) {
  if (counts.size() < 2) return 0;
  const auto likelihood = [&](double exponent) {
    double all = 0;
    double sum = 0;
    double shares = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double log_rank = portable_log(static_cast<double>(k + 1));
      const double count = as_number(counts[k]);
      all += count;
      sum -= exponent * count * log_rank;
      shares += portable_exp(-exponent * log_rank);
    }
    return sum - all * portable_log(shares);
  };
  double low = 0;
  double high = 5;
  while (high - low > 1e-6) {
    const double third = (high - low) / 3;
    (likelihood(low + third) < likelihood(high - third) ? low : high) =
        likelihood(low + third) < likelihood(high - third) ? low + third : high - third;
  }
  return low < 1e-5 ? 0 : (low + high) / 2;
}

double ks_distance(std::vector<double> a, std::vector<double> b) {
  TS_EXPECTS(!a.empty() && !b.empty());
  std::ranges::sort(a);
  std::ranges::sort(b);
  double most = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= value) ++i;
    while (j < b.size() && b[j] <= value) ++j;
    most = std::max(most, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                   static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return most;
}

double ks_chance(std::size_t a, std::size_t b) {
  const auto n = static_cast<double>(a);
  const auto m = static_cast<double>(b);
  return 1.358 * std::sqrt((n + m) / (n * m));
}

}  // namespace tiersim
