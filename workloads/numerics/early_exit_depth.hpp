#pragma once
// The exit depth of batches, by measure, threshold and batch size. Source: Miao et al. 2024 (early
// exit), sections 2.1 and 3.1.
#include <cstdint>
#include <vector>

#include "workloads/numerics/early_exit_sample.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

/// P(first accepted layer <= l) of independent tokens, for l = 0 to n. A token that is never
/// accepted has depth n.
using DepthDistribution = std::vector<double>;
DepthDistribution depth_distribution(const std::vector<Eigen::Index>& accepted_at,
                                     Eigen::Index layers);

/// Mean layers run by a batch of independent tokens: sum over l of 1 - P(depth <= l)^batch.
double expected_depth(const DepthDistribution& distribution, int batch);

/// Adds the tables of confidence and depth, the curve of depth, and the statements about depth.
void add_depth_study(const EarlyExitSample& sample, std::uint64_t seed, Study& study);

}  // namespace tiersim::numerics
