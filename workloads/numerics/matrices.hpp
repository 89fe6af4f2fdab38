#pragma once
// Float64 matrices for all studies, and random ones that are the same on every machine. These are
// the only headers besides sim/base and sim/config with a third-party type, since matrices are what
// this library works on.
#include <Eigen/Core>

#include "sim/base/rng.hpp"

namespace tiersim::numerics {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using RowVector = Eigen::RowVectorXd;
using Index = Eigen::Index;

/// Independent standard normals, filled row by row.
Matrix random_normal(Rng& rng, Eigen::Index rows, Eigen::Index columns);

/// A random orthogonal matrix: the Q of a normal matrix.
Matrix random_orthogonal(Rng& rng, Eigen::Index size);

/// Softmax of every row, stabilised by its maximum.
Matrix softmax_rows(const Matrix& scores);

/// Root mean square of all elements of a - b over that of a.
double relative_error(const Matrix& a, const Matrix& b);

}  // namespace tiersim::numerics
