#pragma once
// Grouped latent attention (GLA): heads and latent are cut into groups, and a head attends to the
// slice of its group only. There are two ways from MLA (TPLA, 3.2, 4.4 and 5.1). Keeping every head
// once loses the latent of the other groups; keeping every head once in each group is TPLA. Source:
// Zadouri, Strauss and Dao 2025 (GLA); TPLA, section 4.4.
#include <vector>

#include "workloads/numerics/latent_slicing.hpp"

namespace tiersim::numerics {

/// up_key and up_value have only the rows of the head's slice.
struct GroupedHead {
  LatentHead weights;
  double score_share = 1;  ///< divisor of its scores without position
};

struct GroupedWeights {
  std::vector<GroupedHead> heads;  ///< in order of groups, the same number in each
  Eigen::Index groups = 1;
  double scale = 1;
};

/// groups x h heads: MLA's h query heads, repeated for each group.
GroupedWeights duplicate_queries(const LatentWeights& weights, const Slicing& slicing);

/// h heads, each in one group only.
GroupedWeights split_heads(const LatentWeights& weights, Eigen::Index groups);

/// Output of the layer, queries x hidden.
Matrix grouped_attention(const GroupedWeights& weights, const Matrix& states,
                         const LatentRows& rows, Eigen::Index first);

}  // namespace tiersim::numerics
