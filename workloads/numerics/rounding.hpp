#pragma once
// Bounds on the difference of two ways to compute the same in float64, so that tolerances of
// equality are derived rather than chosen.
//
// With gamma_n = n u / (1 - n u), u = 2^-53, a product of matrices with inner dimensions n1, n2,
// ... computed in any order errs by at most gamma_(n1 + n2 + ...) |A||B||C|..., element by element
// (Higham 2002, section 3.5). In the Frobenius norm the error is thus at most gamma times the
// product of the norms; an orthogonal r x r factor counts sqrt(r) there. These are worst cases:
// real errors are orders of magnitude smaller, and a mistake in the algebra is orders larger.
#include "workloads/numerics/latent_weights.hpp"

namespace tiersim::numerics {

/// gamma_n for n rounded operations in a chain.
double rounding_bound(Eigen::Index operations);

/// Bound, in every row, on the difference between the normalised latents of transformed weights and
/// the transformed latents of the original weights: |RMSNorm(x W U) - RMSNorm(x W) U| of the worst
/// row.
double latent_bound(const LatentWeights& weights, const Matrix& orthogonal, const Matrix& states);

/// Bound on the difference of the layer's output in the worst row: absorbed or explicit, with the
/// weights transformed by `orthogonal` (the identity for no transform).
double attention_bound(const LatentWeights& weights, const Matrix& orthogonal,
                       const Matrix& states);

/// Largest Euclidean norm of a row.
double largest_row(const Matrix& rows);

}  // namespace tiersim::numerics
