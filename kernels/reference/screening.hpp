// Reference results of the screening kernels in float64, slow and simple.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels::reference {

// Indices of the k largest scores, ascending. Of equal scores the lowest indices are chosen. NaN
// ranks below all numbers. -1 fills the end where there are fewer than k scores.
std::vector<int> largest(const std::vector<double>& scores, std::size_t k);

// keys[t] . query of `rank` numbers each, for every token.
std::vector<double> low_rank_scores(const std::vector<std::int8_t>& keys,
                                    const std::vector<std::int8_t>& query);

// SparQ's approximate scores: products over the r components of the query with the largest
// magnitude, the first ones of equal magnitudes. keys: [tokens][query.size()].
std::vector<double> sparq_scores(const std::vector<float>& keys, const std::vector<float>& query,
                                 std::size_t r);

}  // namespace tiersim::kernels::reference
