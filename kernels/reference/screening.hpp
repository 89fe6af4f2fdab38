// What the kernels of screening should choose, in float64, slow and obvious.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels::reference {

// Indices of the k largest scores, ascending; of equal scores the lowest indices; NaN ranks below
// all numbers. -1 behind the last where there are fewer than k scores.
std::vector<int> largest(const std::vector<double>& scores, std::size_t k);

// keys[t] . query of `rank` numbers each, for every token.
std::vector<double> low_rank_scores(const std::vector<std::int8_t>& keys,
                                    const std::vector<std::int8_t>& query);

// SparQ's approximate scores: the products over the r components of the query that are largest in
// size, of equal sizes the first. keys: [tokens][query.size()].
std::vector<double> sparq_scores(const std::vector<float>& keys, const std::vector<float>& query,
                                 std::size_t r);

}  // namespace tiersim::kernels::reference
