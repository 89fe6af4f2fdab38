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

/// Second-moment matrix of the rows: columns x columns.
Matrix second_moment(const Matrix& rows);

/// Eigenvectors of a second-moment matrix, largest eigenvalue first (TPLA, 4.3.2). The sign of each
/// makes its largest element positive.
Matrix principal_components(const Matrix& moment);

/// `shards` shares of 1 / shards each.
Vector equal_shares(Eigen::Index shards);

/// Shares of the energy (mean square) in `shards` slices of equal width. For principal components
/// these are the sums of eigenvalues of equation 25.
Vector energy_shares(const Vector& energy, Eigen::Index shards);

/// Energy of every column of the transformed rows, from their second-moment matrix.
Vector turned_energy(const Matrix& moment, const Matrix& turn);

/// Largest element of |U^T U - 1|, times the size. It bounds the distance from orthogonality in any
/// norm used here.
double orthogonality_error(const Matrix& orthogonal);

}  // namespace tiersim::numerics
