#include "workloads/serving/lengths.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/portable_math.hpp"
#include "workloads/serving/arrivals.hpp"

namespace tiersim {

std::int64_t draw_length(const LengthConfig& config, Rng& rng) {
  if (config.distribution == LengthDistribution::fixed) return config.tokens;
  if (config.distribution == LengthDistribution::uniform)
    return config.min + static_cast<std::int64_t>(
                            rng.below(static_cast<std::uint64_t>(config.max - config.min) + 1));
  const double tokens =
      static_cast<double>(config.tokens) * portable_exp(config.sigma * draw_normal(rng));
  const double most = static_cast<double>(config.max);
  return std::max(config.min, static_cast<std::int64_t>(std::llround(std::min(tokens, most))));
}

Lengths::Lengths(const LengthConfig& config, std::uint64_t seed, std::string_view stream)
    : config_(config), rng_(seed, stream) {}

}  // namespace tiersim
