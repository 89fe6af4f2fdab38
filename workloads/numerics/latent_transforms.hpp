#pragma once
// Orthogonal transforms of a latent, and the shares of its energy that slices of it hold.
//
// A transform U is a matrix whose columns are the new directions: latents c (rows) become c U.
// Source: TPLA, section 4.3.
#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

/// Sylvester's Hadamard matrix over sqrt(size); size a power of two.
Matrix hadamard(Eigen::Index size);

/// D H / sqrt(size), D a diagonal of random signs (TPLA, 4.3.1).
Matrix signed_hadamard(Rng& rng, Eigen::Index size);

/// Eigenvectors of the rows' second moment, largest eigenvalue first (TPLA, 4.3.2). Each has its
/// sign chosen so that its largest element is positive.
Matrix principal_components(const Matrix& rows);

/// 1 / shards each.
Vector equal_shares(Eigen::Index shards);

/// What part of the rows' energy (sum of squares) lies in each of `shards` slices of the columns;
/// for principal components these are the sums of eigenvalues of equation 25.
Vector energy_shares(const Matrix& rows, Eigen::Index shards);

/// Largest element of |U^T U - 1|, times the size: bounds the distance from orthogonal in any norm
/// used here.
double orthogonality_error(const Matrix& orthogonal);

}  // namespace tiersim::numerics
