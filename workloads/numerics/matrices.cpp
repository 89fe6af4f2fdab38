#include "workloads/numerics/matrices.hpp"

#include <cmath>
#include <numbers>

#include <Eigen/QR>

#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {
namespace {

// Box and Muller's transform; the second value of the pair is not used.
double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * portable_log(rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

}  // namespace

Matrix random_normal(Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  Matrix out(rows, columns);
  for (Eigen::Index row = 0; row < rows; ++row)
    for (Eigen::Index column = 0; column < columns; ++column) out(row, column) = normal(rng);
  return out;
}

Matrix random_orthogonal(Rng& rng, Eigen::Index size) {
  const Eigen::HouseholderQR<Matrix> qr(random_normal(rng, size, size));
  return qr.householderQ();
}

Matrix softmax_rows(const Matrix& scores) {
  Matrix out = scores;
  for (Eigen::Index row = 0; row < out.rows(); ++row) {
    out.row(row).array() -= out.row(row).maxCoeff();
    out.row(row) = out.row(row).array().exp().matrix();
    out.row(row) /= out.row(row).sum();
  }
  return out;
}

double relative_error(const Matrix& a, const Matrix& b) {
  return (a - b).norm() / a.norm();
}

}  // namespace tiersim::numerics
