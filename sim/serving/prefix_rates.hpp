#pragma once
// Shares of the input that prefix caches had: as metrics of a record.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/serving/observations.hpp"

namespace tiersim {

/// Over the tokens of these requests' prompts: found in a prefix cache; of that what lay in the
/// pool and in each tier below it, where there are tiers; and what tiers had and was computed,
/// where a prompt may choose so. All 0 where there are no requests.
std::vector<std::pair<std::string, double>> prefix_rates(const ServingObservations& seen,
                                                         std::span<const ServedRequest> counted);

/// The places of a run with tiers below the pool, as records name them: pool, tier1, tier2; none
/// without tiers.
std::vector<std::string> prefix_places(const ServingObservations& seen);

}  // namespace tiersim
