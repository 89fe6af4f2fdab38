#include "workloads/serving/length_config.hpp"

#include <fmt/format.h>

#include "workloads/serving/law_names.hpp"

namespace tiersim {
namespace {

void describe_lengths(Fields& f, LengthDistribution distribution, LengthConfig& c) {
  const bool fixed = distribution == LengthDistribution::fixed;
  const bool lognormal = distribution == LengthDistribution::lognormal;
  if (fixed || lognormal)
    f.required("tokens", c.tokens, fixed ? "Tokens of each." : "Median, tokens.",
               in_range(1, kMostTokens));
  if (fixed) return;
  if (lognormal)
    f.required("sigma", c.sigma, "Standard deviation of the logarithm.", in_range(0.0, 10.0));
  constexpr std::string_view kLow = "Fewest tokens; what is drawn below becomes this.";
  if (lognormal)
    f.optional("min", c.min, kLow, in_range(1, kMostTokens));
  else
    f.required("min", c.min, "Fewest tokens.", in_range(1, kMostTokens));
  f.required("max", c.max,
             lognormal ? "Most tokens; what is drawn above becomes this." : "Most tokens.",
             in_range(1, kMostTokens));
  f.check(c.min <= c.max, "max", fmt::format("is below the fewest, {}", c.min), "raise it");
  f.check(!lognormal || c.min > c.max || (c.min <= c.tokens && c.tokens <= c.max), "tokens",
          fmt::format("is outside {} to {}", c.min, c.max), "the median lies in the range");
}

}  // namespace

void describe(Fields& f, LengthConfig& c) {
  f.doc("How many tokens.");
  std::string distribution = spelled(kLengthDistributionNames, c.distribution);
  f.select("distribution", distribution,
           {{"fixed", "all alike"},
            {"uniform", "each number of a range equally often"},
            {"lognormal", "a median and the spread of the logarithm, cut to a range"}},
           [&](const std::string& chosen, Fields& fields) {
             describe_lengths(fields,
                              enumerator<LengthDistribution>(kLengthDistributionNames, chosen), c);
           });
  c.distribution = enumerator<LengthDistribution>(kLengthDistributionNames, distribution);
}

std::int64_t most_of(const LengthConfig& config) {
  return config.distribution == LengthDistribution::fixed ? config.tokens : config.max;
}

}  // namespace tiersim
