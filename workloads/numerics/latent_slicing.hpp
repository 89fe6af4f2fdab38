#pragma once
// Tensor-parallel latent attention (TPLA): the latent is cut into slices, one a shard; every head
// attends on every shard, over that shard's slice, and the outputs are added.
//
// Two steps of MLA need the whole latent, and each shard may replace either with what its slice
// says (TPLA, 4.1 and 4.2):
//   norm      ||c||^2 is taken to be ||c_j||^2 / alpha_j, so that the mean square of the whole is
//             1 / (shards alpha_j) times that of the slice;
//   softmax   q . c is taken to be q_j . c_j / beta_j. The part that carries positions is not cut.
// alpha and beta are constants: 1 / shards for a balancing transform, the shares of the energy for
// principal components (4.3.2), the same numbers for both.
#include "workloads/numerics/latent_attention.hpp"

namespace tiersim::numerics {

struct Slicing {
  Vector norm_shares;   ///< alpha: one a shard
  Vector score_shares;  ///< beta: one a shard
  bool norm = true;
  bool softmax = true;

  Eigen::Index shards() const { return norm_shares.size(); }
};

/// Latents as shards write them: slices beside each other, tokens x rank. With `norm` false the
/// exact ones. Needs a gain of ones.
LatentRows sliced_rows(const LatentWeights& weights, const Slicing& slicing, const Matrix& states,
                       Eigen::Index first);

/// Output of the layer over rows written by sliced_rows (or by an exact prefill).
Matrix sliced_attention(const LatentWeights& weights, const Slicing& slicing, const Matrix& states,
                        const LatentRows& rows, Eigen::Index first);

}  // namespace tiersim::numerics
