#include "workloads/serving/lengths.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/portable_math.hpp"
#include "workloads/serving/arrivals.hpp"

namespace tiersim {

Lengths::Lengths(const LengthConfig& config, std::uint64_t seed, std::string_view stream)
    : config_(config), rng_(seed, stream) {}

std::int64_t Lengths::next() {
  if (config_.distribution == LengthDistribution::fixed) return config_.tokens;
  if (config_.distribution == LengthDistribution::uniform)
    return config_.min + static_cast<std::int64_t>(
                             rng_.below(static_cast<std::uint64_t>(config_.max - config_.min) + 1));
  const double tokens =
      static_cast<double>(config_.tokens) * portable_exp(config_.sigma * draw_normal(rng_));
  const double most = static_cast<double>(config_.max);
  return std::max(config_.min, static_cast<std::int64_t>(std::llround(std::min(tokens, most))));
}

}  // namespace tiersim
