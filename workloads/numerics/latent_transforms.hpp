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

/// Second moment of the rows: columns x columns.
Matrix second_moment(const Matrix& rows);

/// Eigenvectors of a second moment, largest eigenvalue first (TPLA, 4.3.2). Each has its sign
/// chosen so that its largest element is positive.
Matrix principal_components(const Matrix& moment);

/// 1 / shards each.
Vector equal_shares(Eigen::Index shards);

/// What part of the energy (mean square) lies in each of `shards` slices of as many columns; for
/// principal components these are the sums of eigenvalues of equation 25.
Vector energy_shares(const Vector& energy, Eigen::Index shards);

/// Energy of every column of the rows over a transform, from their second moment.
Vector turned_energy(const Matrix& moment, const Matrix& turn);

/// Largest element of |U^T U - 1|, times the size: bounds the distance from orthogonal in any norm
/// used here.
double orthogonality_error(const Matrix& orthogonal);

}  // namespace tiersim::numerics
