#include "workloads/numerics/maple_distillation.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>
#include <Eigen/SVD>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

// A matrix as orthonormal columns times a small matrix.
struct Thin {
  explicit Thin(const Matrix& a) {
    const Index size = std::min(a.rows(), a.cols());
    const Eigen::HouseholderQR<Matrix> qr(a);
    q = qr.householderQ() * Matrix::Identity(a.rows(), size);
    r = qr.matrixQR().topRows(size).triangularView<Eigen::Upper>();
  }
  Matrix q;
  Matrix r;
};

}  // namespace

Matrix sparse_projection(Rng& rng, Index from, Index to) {
  const double size = std::sqrt(3 / static_cast<double>(to));
  Matrix out(from, to);
  for (Index column = 0; column < to; ++column)
    for (Index row = 0; row < from; ++row) {
      const std::uint64_t face = rng.below(6);
      out(row, column) = face == 0 ? -size : face == 1 ? size : 0;
    }
  return out;
}

double score_power(const Matrix& q, const Matrix& k) {
  return (q.transpose() * q).cwiseProduct(k.transpose() * k).sum();
}

double score_loss(const Matrix& q, const Matrix& k, double power, const Matrix& low_q,
                  const Matrix& low_k) {
  // <A B^T, C D^T> = <A^T C, B^T D>, sums over all elements.
  const double inner = (q.transpose() * low_q).cwiseProduct(k.transpose() * low_k).sum();
  return std::max(power - 2 * inner + score_power(low_q, low_k), 0.0);
}

Distiller::Distiller(Matrix projected) : projected_(std::move(projected)) {
  const Eigen::ColPivHouseholderQR<Matrix> qr(projected_);
  const Index rank = qr.rank();
  orthonormal_ = qr.householderQ() * Matrix::Identity(projected_.rows(), rank);
  Matrix inverse = Matrix::Zero(projected_.cols(), rank);
  inverse.topRows(rank) = qr.matrixR()
                              .topLeftCorner(rank, rank)
                              .triangularView<Eigen::Upper>()
                              .solve(Matrix::Identity(rank, rank));
  back_ = qr.colsPermutation() * inverse;
}

LowRankHead Distiller::distil(const Matrix& q, const Matrix& k, Index rank) const {
  TS_EXPECTS(q.rows() == projected_.rows() && k.rows() == projected_.rows(), q.rows(), k.rows());
  TS_EXPECTS(rank >= 1 && rank <= projected_.cols(), rank);
  const Thin left(orthonormal_.transpose() * q);
  const Thin right(orthonormal_.transpose() * k);
  const Eigen::JacobiSVD<Matrix> svd(left.r * right.r.transpose(),
                                     Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Index kept = std::min(rank, svd.singularValues().size());
  const Vector root = svd.singularValues().head(kept).cwiseSqrt();
  const auto weights = [&](const Matrix& basis, const Matrix& vectors) {
    Matrix out = Matrix::Zero(projected_.cols(), rank);
    out.leftCols(kept) = back_ * basis * vectors.leftCols(kept) * root.asDiagonal();
    return out;
  };
  return {.w_q = weights(left.q, svd.matrixU()), .w_k = weights(right.q, svd.matrixV())};
}

}  // namespace tiersim::numerics
