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
// The optimum in closed form, where the paper trains by gradient. Let S = X P = U R with
// orthonormal columns in U. For M = W_q W_k^T,
//   ||Q K^T - S M S^T||^2 = ||Q K^T - U U^T Q K^T U U^T||^2 + ||C - R M R^T||^2,  C = U^T Q K^T U,
// whose first term no M changes. Of all M of rank r the second is least where R M R^T is C cut to
// its r largest singular values A D B^T (Eckart and Young), so W_q = R^-1 A D^1/2, W_k = R^-1 B
// D^1/2. Where S lacks rank, the first independent columns of a pivoted QR are used. The optimum is
// a global one: no W that training finds has a smaller loss on the same tokens.
#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

/// P: from x to entries sqrt(3 / to) * {-1, 0, 1} with probabilities 1/6, 2/3, 1/6 (Achlioptas
/// 2003). Filled column by column, so that from one state of `rng` the columns for a smaller `to`
/// are, up to the factor, the first of those for a larger one.
Matrix sparse_projection(Rng& rng, Eigen::Index from, Eigen::Index to);

/// One head's share of the two matrices: k x rank each.
struct LowRankHead {
  Matrix w_q;
  Matrix w_k;
};

/// Sum of squares of all elements of Q K^T: what a loss is a share of. No product is formed.
double score_power(const Matrix& q, const Matrix& k);

/// Sum of squares of Q K^T - Q~ K~^T over all pairs of rows; `power`: score_power(q, k), which is
/// the same for every rank. Below about 1e-15 of it only rounding is left.
double score_loss(const Matrix& q, const Matrix& k, double power, const Matrix& low_q,
                  const Matrix& low_k);

class Distiller {
 public:
  /// projected: X P of the calibration tokens, tokens x k.
  explicit Distiller(Matrix projected);

  /// The best of that rank for one head; q and k over the calibration tokens. rank is at most k;
  /// columns beyond what the head needs are 0.
  LowRankHead distil(const Matrix& q, const Matrix& k, Eigen::Index rank) const;

  const Matrix& projected() const { return projected_; }

 private:
  Matrix projected_;
  Matrix orthonormal_;  // U: tokens x independent columns
  Matrix back_;         // k x independent columns: S * back_ = U
};

}  // namespace tiersim::numerics
