#include "workloads/numerics/attention_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {

RowVector exact_logits(const AttentionSample& sample, Index position) {
  TS_EXPECTS(position >= sample.first_query() && position < sample.tokens(), position);
  const double scale = 1 / std::sqrt(static_cast<double>(sample.head_dim()));
  return sample.query(position) * sample.k.topRows(position + 1).transpose() * scale;
}

RowVector softmax(const RowVector& logits) {
  // The maximum has weight 1 before normalisation, so a weight below e^-700 changes no sum.
  const double top = logits.maxCoeff();
  RowVector out(logits.size());
  for (Index i = 0; i < logits.size(); ++i) {
    const double below = logits(i) - top;
    out(i) = below < -700 ? 0 : portable_exp(below);
  }
  return out / out.sum();
}

Vector accumulated_attention(const AttentionSample& sample, Index until) {
  TS_EXPECTS(sample.first_query() == 0, sample.first_query());
  Vector out = Vector::Zero(until);
  for (Index position = 0; position < until; ++position)
    out.head(position + 1) += softmax(exact_logits(sample, position)).transpose();
  return out;
}

std::vector<Index> highest(const RowVector& scores, Index count) {
  TS_EXPECTS(count >= 0 && count <= scores.size(), count, scores.size());
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto end = order.begin() + count;
  std::nth_element(order.begin(), end, order.end(), [&](Index a, Index b) {
    return scores(a) != scores(b) ? scores(a) > scores(b) : a < b;
  });
  order.erase(end, order.end());
  std::ranges::sort(order);
  return order;
}

}  // namespace tiersim::numerics
