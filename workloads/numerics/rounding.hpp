#pragma once
// How far two ways to compute the same may differ in float64, so that "equal" has a tolerance that
// nobody chose.
//
// With gamma_n = n u / (1 - n u), u = 2^-53, a product of matrices with inner dimensions n1, n2,
// ... computed in any order errs by at most gamma_(n1 + n2 + ...) |A||B||C|..., element by element
// (Higham 2002, section 3.5), so in the Frobenius norm by gamma times the product of the norms; an
// orthogonal r x r factor counts sqrt(r) there. Worst cases: real errors are orders smaller, and a
// mistake in the algebra orders larger.
#include "workloads/numerics/latent_weights.hpp"

namespace tiersim::numerics {

/// gamma_n for n rounded operations in a chain.
double rounding_bound(Eigen::Index operations);

/// Row by row at most how far the normalised latents of the transformed weights may lie from the
/// turned ones of the untransformed: |RMSNorm(x W U) - RMSNorm(x W) U| for the worst row.
double latent_bound(const LatentWeights& weights, const Matrix& orthogonal, const Matrix& states);

/// The same for the layer's output, |difference| of the worst row: absorbed or explicit, with the
/// weights turned by `orthogonal` (the identity for no turn).
double attention_bound(const LatentWeights& weights, const Matrix& orthogonal,
                       const Matrix& states);

/// Largest Euclidean norm of a row.
double largest_row(const Matrix& rows);

}  // namespace tiersim::numerics
