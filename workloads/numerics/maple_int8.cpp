#include "workloads/numerics/maple_int8.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

int rounded(double value, double scale) {
  if (scale == 0) return 0;
  return static_cast<int>(std::clamp(std::round(value / scale), -kInt8Max, kInt8Max));
}

}  // namespace

Int8Matrix quantised(const Matrix& a, Index scaled_by) {
  TS_EXPECTS(scaled_by >= 1 && scaled_by <= a.rows(), scaled_by, a.rows());
  Int8Matrix out{.numbers = Eigen::MatrixXi(a.rows(), a.cols()),
                 .scale = a.topRows(scaled_by).cwiseAbs().colwise().maxCoeff() / kInt8Max};
  for (Index row = 0; row < a.rows(); ++row)
    for (Index column = 0; column < a.cols(); ++column)
      out.numbers(row, column) = rounded(a(row, column), out.scale(column));
  return out;
}

Int8Screen::Int8Screen(const Matrix& projected, const LowRankHead& head, Index prompt)
    : q_(projected * head.w_q), k_(projected * head.w_k) {
  const Int8Matrix w_q = quantised(head.w_q, head.w_q.rows());
  const Int8Matrix w_k = quantised(head.w_k, head.w_k.rows());
  rounded_q_ = projected * w_q.values();
  const Matrix rounded_k = projected * w_k.values();
  stored_ = quantised(rounded_k, prompt);
  const Vector length = projected.cwiseAbs().rowwise().sum();
  q_error_ = length * w_q.scale / 2;
  k_error_ = length * w_k.scale / 2;
  for (Index row = 0; row < k_.rows(); ++row)
    for (Index c = 0; c < k_.cols(); ++c)
      k_error_(row, c) +=
          std::max(stored_.scale(c) / 2, std::abs(rounded_k(row, c)) - kInt8Max * stored_.scale(c));
}

Int8Screen::Query Int8Screen::quantised_query(Index position) const {
  const RowVector folded = rounded_q_.row(position).cwiseProduct(stored_.scale);
  Query out{.numbers = Eigen::RowVectorXi(folded.size()),
            .unit = folded.cwiseAbs().maxCoeff() / kInt8Max};
  for (Index c = 0; c < folded.size(); ++c) out.numbers(c) = rounded(folded(c), out.unit);
  return out;
}

RowVector Int8Screen::integer_scores(Index position) const {
  const Query query = quantised_query(position);
  return (query.numbers * stored_.numbers.topRows(position + 1).transpose()).cast<double>();
}

double Int8Screen::unit(Index position) const {
  return quantised_query(position).unit;
}

RowVector Int8Screen::exact_scores(Index position) const {
  return q_.row(position) * k_.topRows(position + 1).transpose();
}

RowVector Int8Screen::error_bound(Index position) const {
  const double half = unit(position) / 2;
  RowVector per_key(q_.cols());
  for (Index c = 0; c < q_.cols(); ++c) {
    const double scale = stored_.scale(c);
    per_key(c) = scale == 0 ? 0 : q_error_(position, c) + half / scale;
  }
  const Matrix keys = stored_.values().topRows(position + 1).cwiseAbs();
  return per_key * keys.transpose() +
         q_.row(position).cwiseAbs() * k_error_.topRows(position + 1).transpose();
}

Index rows_at_risk(const RowVector& exact, const RowVector& bound, Index count) {
  const std::vector<Index> chosen = highest(exact, count);
  double reach = -std::numeric_limits<double>::infinity();
  std::size_t next = 0;
  for (Index row = 0; row < exact.size(); ++row) {
    if (next < chosen.size() && chosen[next] == row)
      ++next;
    else
      reach = std::max(reach, exact(row) + bound(row));
  }
  return std::ranges::count_if(chosen, [&](Index row) { return exact(row) - bound(row) <= reach; });
}

}  // namespace tiersim::numerics
