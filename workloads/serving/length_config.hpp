#pragma once
// Laws for numbers of tokens.
//
//   {tokens: 512}                                               every length is 512
//   {distribution: uniform, min: 100, max: 2000}
//   {distribution: lognormal, tokens: 512, sigma: 1, max: 8192} median 512, cut to the range
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"

namespace tiersim {

enum class LengthDistribution : std::uint8_t { fixed, uniform, lognormal };
inline constexpr std::array<std::string_view, 3> kLengthDistributionNames{"fixed", "uniform",
                                                                          "lognormal"};

/// Largest number of tokens of a prompt or an answer; as in StepConfig's context.
inline constexpr std::int64_t kMostTokens = 100'000'000;

struct LengthConfig {
  LengthDistribution distribution = LengthDistribution::fixed;
  std::int64_t tokens = 0;  ///< fixed: every length; lognormal: the median
  double sigma = 0;         ///< lognormal: standard deviation of the logarithm
  std::int64_t min = 1;     ///< uniform: the range; lognormal: draws are clipped to it
  std::int64_t max = 0;     ///< the range includes it
};
void describe(Fields& f, LengthConfig& c);

/// The longest length that the law gives.
std::int64_t most_of(const LengthConfig& config);

}  // namespace tiersim
