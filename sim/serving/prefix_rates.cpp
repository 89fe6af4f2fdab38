#include "sim/serving/prefix_rates.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 4> kPlaces{"pool", "tier1", "tier2", "tier3"};
static_assert(kPlaces.size() == std::tuple_size_v<FoundIn>);

}  // namespace

std::vector<std::string> prefix_places(const ServingObservations& seen) {
  if (seen.prefix_tiers == 0) return {};
  return {kPlaces.begin(), kPlaces.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(kPlaces.size(), seen.prefix_tiers + 1))};
}

std::vector<std::pair<std::string, double>> prefix_rates(const ServingObservations& seen,
                                                         std::span<const ServedRequest> counted) {
  std::int64_t input = 0;
  std::int64_t cached = 0;
  std::int64_t declined = 0;
  std::array<std::int64_t, kPlaces.size()> in{};
  for (const ServedRequest& request : counted) {
    input += request.input_tokens;
    cached += request.cached_tokens;
    declined += request.declined_tokens;
    for (std::size_t k = 0; k < in.size(); ++k) in[k] += request.cached_in[k];
  }
  const auto share = [&](std::int64_t tokens) {
    return input == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(input);
  };
  std::vector<std::pair<std::string, double>> out{{"prefix_hit_rate", share(cached)}};
  const std::vector<std::string> places = prefix_places(seen);
  for (std::size_t k = 0; k < places.size(); ++k)
    out.emplace_back("prefix_hit_rate." + places[k], share(in[k]));
  if (seen.may_decline) out.emplace_back("prefix_recompute_rate", share(declined));
  return out;
}

}  // namespace tiersim
