#include "workloads/numerics/latent_transforms.hpp"

#include <cmath>

#include <Eigen/Eigenvalues>

#include "sim/base/check.hpp"

namespace tiersim::numerics {

Matrix hadamard(Index size) {
  TS_EXPECTS(size > 0 && (size & (size - 1)) == 0, size);
  Matrix h = Matrix::Ones(size, size);
  for (Index half = 1; half < size; half *= 2) {
    const Matrix corner = h.topLeftCorner(half, half);
    h.block(0, half, half, half) = corner;
    h.block(half, 0, half, half) = corner;
    h.block(half, half, half, half) = -corner;
  }
  return h / std::sqrt(static_cast<double>(size));
}

Matrix signed_hadamard(Rng& rng, Index size) {
  Matrix out = hadamard(size);
  for (Index row = 0; row < size; ++row) {
    if (rng.below(2) == 0) out.row(row) *= -1;
  }
  return out;
}

Matrix second_moment(const Matrix& rows) {
  return rows.transpose() * rows / static_cast<double>(rows.rows());
}

Matrix principal_components(const Matrix& moment) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(moment);
  TS_ENSURES(solver.info() == Eigen::Success);
  Matrix out = solver.eigenvectors().rowwise().reverse();
  for (Index column = 0; column < out.cols(); ++column) {
    Index largest = 0;
    out.col(column).cwiseAbs().maxCoeff(&largest);
    if (out(largest, column) < 0) out.col(column) *= -1;
  }
  return out;
}

Vector equal_shares(Index shards) {
  return Vector::Constant(shards, 1.0 / static_cast<double>(shards));
}

Vector energy_shares(const Vector& energy, Index shards) {
  TS_EXPECTS(energy.size() % shards == 0, energy.size(), shards);
  const Index width = energy.size() / shards;
  Vector shares(shards);
  for (Index shard = 0; shard < shards; ++shard) {
    shares(shard) = energy.segment(shard * width, width).sum();
  }
  return shares / energy.sum();
}

Vector turned_energy(const Matrix& moment, const Matrix& turn) {
  return (moment * turn).cwiseProduct(turn).colwise().sum().transpose();
}

double orthogonality_error(const Matrix& orthogonal) {
  const Index size = orthogonal.cols();
  const Matrix gap = orthogonal.transpose() * orthogonal - Matrix::Identity(size, size);
  return gap.cwiseAbs().maxCoeff() * static_cast<double>(size);
}

}  // namespace tiersim::numerics
