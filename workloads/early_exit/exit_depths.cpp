#include "workloads/early_exit/exit_depths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/config/normal_scores.hpp"

namespace tiersim {
namespace {

constexpr int kSteps = 64;       // steps of an answer, where thresholds decay
constexpr double kFall = 4;      // tau of CALM
constexpr double kFarOut = 8.5;  // Phi(-8.5) is below 1e-17

double fallen(int step) {
  return portable_exp(-kFall * (step + 0.5) / kSteps);
}
double mean_fallen() {
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) sum += fallen(step);
  return sum / kSteps;
}
// Exit rate at this step over the mean rate.
double rate_at(int step, double decay) {
  return (1 - decay * fallen(step)) / (1 - decay * mean_fallen());
}

// Upper limits of z for an exit at layer 1, 2, ... layers - 1.
std::vector<double> thresholds(double mu, double spread, std::int64_t layers) {
  std::vector<double> out;
  for (std::int64_t l = 1; l < layers; ++l)
    out.push_back((static_cast<double>(l) + 0.5 - mu) / spread);
  return out;
}

double mean_of(const std::vector<double>& thresholds) {
  double mean = static_cast<double>(thresholds.size() + 1);
  for (const double z : thresholds) mean -= normal_at_most(z);
  return mean;
}

// Solves for mu by bisection: the mean grows with mu from 1 to `layers`. At both ends all tokens
// exit at one layer.
std::vector<double> solved(double mean, double spread, std::int64_t layers) {
  const auto n = static_cast<double>(layers);
  // Beyond it, all tokens exit at the first or the last layer.
  const double margin = 20 * spread + n;
  if (mean >= n) return thresholds(n + margin, spread, layers);
  double low = 1 - margin;
  double high = n + margin;
  for (int i = 0; i < 200; ++i) {
    const double mid = low + (high - low) / 2;
    if (mid <= low || mid >= high) break;
    (mean_of(thresholds(mid, spread, layers)) < mean ? low : high) = mid;
  }
  return thresholds(high, spread, layers);
}

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection that leaves no visible
// pattern.
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// A standard normal as a function of these four arguments alone.
double normal(std::uint64_t seed, std::uint64_t stream, std::int64_t a, std::int64_t b) {
  const std::uint64_t bits =
      scramble(scramble(scramble(scramble(seed) ^ stream) ^ static_cast<std::uint64_t>(a)) ^
               static_cast<std::uint64_t>(b));
  const double u = (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
  return detail::normal_quantile(std::clamp(u, 1e-10, 1 - 1e-10));
}

constexpr std::uint64_t kOfToken = 1;
constexpr std::uint64_t kOfIteration = 2;

}  // namespace

// Phi(x) = 1/2 + phi(x) (x + x^3 / 3 + x^5 / (3 5) + ...) (Marsaglia, Journal of Statistical
// Software 11(4), 2004).
double normal_at_most(double x) {
  if (x < -kFarOut) return 0;
  if (x > kFarOut) return 1;
  double term = x;
  double sum = x;
  double before = 0;
  for (int i = 3; sum != before; i += 2) {
    before = sum;
    term *= x * x / i;
    sum += term;
  }
  constexpr double kRootOfTwoPi = 2.5066282746310005024;
  return std::clamp(0.5 + sum * portable_exp(-0.5 * x * x) / kRootOfTwoPi, 0.0, 1.0);
}

double decay_peak(double decay) {
  return decay > 0 ? rate_at(kSteps - 1, decay) : 1;
}

ExitDepths::ExitDepths(const EarlyExitConfig& config, std::int64_t layers, std::uint64_t seed)
    : layers_(layers), seed_(seed), at_most_(static_cast<std::size_t>(layers) + 1) {
  TS_EXPECTS(layers >= 1 && exit_problems(config, layers).empty(), layers);
  TS_EXPECTS(measures(config.technique) == config.depths.has_value());
  if (!config.depths) {
    traced_ = {{fixed_depth(config.technique, layers)}};
  } else {
    traced_ = config.depths->traced;
  }
  if (!traced_.empty()) {
    double tokens = 0;
    for (const auto& request : traced_) {
      TS_EXPECTS(!request.empty());
      for (const std::int64_t depth : request) at_most_[static_cast<std::size_t>(depth)] += 1;
      tokens += static_cast<double>(request.size());
    }
    std::partial_sum(at_most_.begin(), at_most_.end(), at_most_.begin());
    for (double& share : at_most_) share /= tokens;
    return;
  }
  const ExitDepthConfig& depths = *config.depths;
  shared_ = std::sqrt(depths.correlation);
  own_ = std::sqrt(1 - depths.correlation);
  const int steps = depths.decay > 0 ? kSteps : 1;
  for (int step = 0; step < steps; ++step) {
    const double rate = *depths.exit_rate * (steps > 1 ? rate_at(step, depths.decay) : 1);
    thresholds_.push_back(solved(static_cast<double>(layers) * (1 - rate), depths.spread, layers));
    for (std::size_t l = 1; l < at_most_.size(); ++l)
      at_most_[l] +=
          (l + 1 < at_most_.size() ? normal_at_most(thresholds_.back()[l - 1]) : 1) / steps;
  }
}

std::int64_t ExitDepths::traced(std::int64_t request, std::int64_t token) const {
  const auto& depths = traced_[static_cast<std::size_t>(request) % traced_.size()];
  return depths[static_cast<std::size_t>(token) % depths.size()];
}

std::int64_t ExitDepths::depth(std::int64_t request, std::int64_t token, std::int64_t of_tokens,
                               std::int64_t iteration) const {
  TS_EXPECTS(request >= 0 && token >= 0 && token < of_tokens, request, token, of_tokens);
  if (!traced_.empty()) return traced(request, token);
  double z = 0;
  if (own_ > 0) z += own_ * normal(seed_, kOfToken, request, token);
  if (shared_ > 0) z += shared_ * normal(seed_, kOfIteration, iteration, 0);
  const auto steps = static_cast<std::int64_t>(thresholds_.size());
  const std::int64_t step = steps * (2 * token + 1) / (2 * of_tokens);
  const auto& limits = thresholds_[static_cast<std::size_t>(step)];
  return 1 + (std::ranges::lower_bound(limits, z) - limits.begin());
}

double ExitDepths::at_most(std::int64_t layer) const {
  return at_most_[static_cast<std::size_t>(std::clamp<std::int64_t>(layer, 0, layers_))];
}

double ExitDepths::mean_depth() const {
  double mean = 0;
  for (std::int64_t l = 0; l < layers_; ++l) mean += 1 - at_most(l);
  return mean;
}

double ExitDepths::deviation() const {
  const double mean = mean_depth();
  double sum = 0;
  for (std::int64_t l = 1; l <= layers_; ++l) {
    const double away = static_cast<double>(l) - mean;
    sum += away * away * (at_most(l) - at_most(l - 1));
  }
  return std::sqrt(sum);
}

}  // namespace tiersim
