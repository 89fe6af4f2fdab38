#pragma once
// Grouped latent attention (GLA): heads and latent are cut into as many groups, and a head sees
// only the slice of its group. Two ways to one from MLA (TPLA, 3.2, 4.4 and 5.1): every head once,
// which loses what its group does not hold, or every head once a group, which is TPLA. Source:
// Zadouri, Strauss and Dao 2025 (GLA); TPLA, section 4.4.
#include <vector>

#include "workloads/numerics/latent_slicing.hpp"

namespace tiersim::numerics {

/// up_key and up_value have the rows of the head's slice only.
struct GroupedHead {
  LatentHead weights;
  double score_share = 1;  ///< its scores without position are divided by this
};

struct GroupedWeights {
  std::vector<GroupedHead> heads;  ///< those of group 0 first; as many for every group
  Eigen::Index groups = 1;
  double scale = 1;
};

/// groups x h heads: the queries of MLA's h heads again for each group.
GroupedWeights duplicate_queries(const LatentWeights& weights, const Slicing& slicing);

/// h heads, each kept by one group only.
GroupedWeights split_heads(const LatentWeights& weights, Eigen::Index groups);

/// Output of the layer, queries x hidden.
Matrix grouped_attention(const GroupedWeights& weights, const Matrix& states,
                         const LatentRows& rows, Eigen::Index first);

}  // namespace tiersim::numerics
