#pragma once
// Tensor-parallel latent attention (TPLA): the latent is cut into slices, one for each shard. Every
// head attends on every shard, over that shard's slice, and the outputs are added.
//
// Two steps of MLA need the whole latent. Each shard may replace either by an estimate from its
// slice (TPLA, 4.1 and 4.2):
//   norm      ||c||^2 is estimated as ||c_j||^2 / alpha_j, so that the mean square of the whole is
//             1 / (shards alpha_j) times that of the slice;
//   softmax   q . c is estimated as q_j . c_j / beta_j. The positional part is not cut.
// alpha and beta are the same constants: 1 / shards for a balancing transform, the shares of the
// energy for principal components (4.3.2).
#include "workloads/numerics/latent_attention.hpp"

namespace tiersim::numerics {

struct Slicing {
  Vector norm_shares;   ///< alpha of each shard
  Vector score_shares;  ///< beta of each shard
  bool norm = true;
  bool softmax = true;

  Eigen::Index shards() const { return norm_shares.size(); }
};

/// Latents as shards write them, with the slices side by side: tokens x rank. The latents are exact
/// where `norm` is false. The gain must be ones.
LatentRows sliced_rows(const LatentWeights& weights, const Slicing& slicing, const Matrix& states,
                       Eigen::Index first);

/// Output of the layer over rows written by sliced_rows (or by an exact prefill).
Matrix sliced_attention(const LatentWeights& weights, const Slicing& slicing, const Matrix& states,
                        const LatentRows& rows, Eigen::Index first);

}  // namespace tiersim::numerics
