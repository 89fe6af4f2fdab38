#pragma once
// Samples of standard normals that cover the distribution as evenly as the number of draws allows:
// the quantiles at (1/2)/n, (3/2)/n, ... in random order (a centred Latin hypercube: McKay, Beckman
// and Conover, Technometrics 21, 1979), and correlated samples of several normals (Iman and
// Conover, Communications in Statistics B 11, 1982).
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tiersim::detail {

/// z with P(Z <= z) = p for 1e-10 <= p <= 1 - 1e-10, to a relative error of 1e-15 (Wichura,
/// algorithm AS 241, Applied Statistics 37, 1988). The same bits on every platform.
double normal_quantile(double p);

/// One number's sample: element i belongs to draw i.
using Scores = std::vector<double>;

/// Every quantile once, in the random order of the seed's stream of this name.
Scores shuffled_scores(std::size_t draws, std::uint64_t seed, std::string_view stream);

/// True where n numbers can have these correlations (12 13 ... 1n 23 ...), each rounded to three
/// digits after the point. The list has n (n - 1) / 2 elements.
bool are_correlations(std::size_t n, const std::vector<double>& correlations);

/// Reorders independent samples so that they have approximately these correlations
/// (are_correlations() holds). Each sample keeps its elements.
void correlate(std::vector<Scores>& samples, const std::vector<double>& correlations);

}  // namespace tiersim::detail
