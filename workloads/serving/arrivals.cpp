#include "workloads/serving/arrivals.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/portable_math.hpp"
#include "sim/config/normal_scores.hpp"

namespace tiersim {
namespace {

Duration checked_time(double seconds) {
  const double ps = seconds * static_cast<double>(kPicosecondsPerSecond);
  if (!(ps < 9.2e18)) throw UnitOverflow();
  return Duration(static_cast<std::int64_t>(std::llround(ps)));
}

Duration checked_sum(Duration a, Duration b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) throw UnitOverflow();
  return Duration(sum);
}

// For shape >= 1; a draw is accepted with a probability above 0.95.
double draw_large_gamma(Rng& rng, double shape) {
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = draw_normal(rng);
    const double root = 1.0 + c * x;
    const double u = rng.uniform();
    if (root <= 0) continue;
    const double v = root * root * root;
    if (portable_log(u) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace

double draw_normal(Rng& rng) {
  return detail::normal_quantile(std::clamp(rng.uniform(), 1e-10, 1 - 1e-10));
}

double draw_gamma(Rng& rng, double shape) {
  TS_EXPECTS(shape > 0, shape);
  if (shape >= 1) return draw_large_gamma(rng, shape);
  const double above = draw_large_gamma(rng, shape + 1);
  const double exponent = portable_log(rng.uniform()) / shape;
  return exponent < -700 ? 0 : above * portable_exp(exponent);
}

Arrivals::Arrivals(const ArrivalConfig& config, std::uint64_t seed)
    : config_(config), rng_(seed, "serving.arrivals") {}

SimTime Arrivals::next() {
  const std::int64_t before = made_++;
  const double mean = 1.0 / config_.requests_per_s;
  if (config_.process == ArrivalProcess::at_once || before == 0) return SimTime(last_);
  if (config_.process == ArrivalProcess::fixed_rate) {  // rounded gaps would add up to an error
    last_ = checked_time(static_cast<double>(before) / config_.requests_per_s);
  } else if (config_.process == ArrivalProcess::poisson) {
    last_ = checked_sum(last_, checked_time(rng_.exponential(mean)));
  } else {
    const double shape = 1.0 / (config_.variation * config_.variation);
    last_ = checked_sum(last_, checked_time(draw_gamma(rng_, shape) / shape * mean));
  }
  return SimTime(last_);
}

}  // namespace tiersim
