#pragma once
// MAPLE's low-rank queries and keys (Liu et al., section 3.1): Q~ = X P W_q and K~ = X P W_k with a
// sparse random projection P, and W_q, W_k such that Q~ K~^T is near Q K^T in the least squares
// sense (its equation 2).
//
//   const Matrix p = sparse_projection(rng, hidden, k);
//   const Distiller distiller(x * p);                        // calibration tokens x k
//   const LowRankHead head = distiller.distil(q, k, rank);   // of one head, over the same tokens
//   const Matrix low_rank_keys = other_x * p * head.w_k;     // other tokens x rank
//
// The paper's W_q, W_k are k x k for a layer: the heads' matrices side by side, k = heads * rank.
//
// The optimum has a closed form, where the paper trains by gradient descent. Let S = X P = U R with
// orthonormal columns in U. For M = W_q W_k^T,
//   ||Q K^T - S M S^T||^2 = ||Q K^T - U U^T Q K^T U U^T||^2 + ||C - R M R^T||^2,  C = U^T Q K^T U,
// where the first term does not depend on M. Over all M of rank r the second term is least where
// R M R^T is C truncated to its r largest singular values A D B^T (Eckart and Young), so W_q =
// R^-1 A D^1/2 and W_k = R^-1 B D^1/2. Where S lacks rank, the first independent columns of a
// pivoted QR are used. The optimum is global: no trained W has a smaller loss on the same tokens.
#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

/// P: `from` x `to` entries sqrt(3 / to) * {-1, 0, 1} with probabilities 1/6, 2/3, 1/6 (Achlioptas
/// 2003). It is filled column by column: from one state of `rng`, the columns of a smaller P are,
/// up to the factor, the first columns of a larger one.
Matrix sparse_projection(Rng& rng, Eigen::Index from, Eigen::Index to);

/// One head's part of the two matrices: k x rank each.
struct LowRankHead {
  Matrix w_q;
  Matrix w_k;
};

/// Sum of squares of all elements of Q K^T, the reference of relative losses; forms no product.
double score_power(const Matrix& q, const Matrix& k);

/// Sum of squares of Q K^T - Q~ K~^T over all pairs of rows. `power` is score_power(q, k), the same
/// for every rank. A result below about 1e-15 of it is rounding.
double score_loss(const Matrix& q, const Matrix& k, double power, const Matrix& low_q,
                  const Matrix& low_k);

class Distiller {
 public:
  /// projected: X P of the calibration tokens, tokens x k.
  explicit Distiller(Matrix projected);

  /// The best low-rank head of that rank; q and k are over the calibration tokens, and rank is at
  /// most k. Columns beyond the rank of the head's scores are 0.
  LowRankHead distil(const Matrix& q, const Matrix& k, Eigen::Index rank) const;

  const Matrix& projected() const { return projected_; }

 private:
  Matrix projected_;
  Matrix orthonormal_;  // U: tokens x independent columns
  Matrix back_;         // k x independent columns: S * back_ = U
};

}  // namespace tiersim::numerics
