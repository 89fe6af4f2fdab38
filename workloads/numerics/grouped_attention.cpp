#include "workloads/numerics/grouped_attention.hpp"

#include <utility>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

LatentHead slice_of(const LatentHead& head, Index group, Index width) {
  LatentHead out = head;
  out.up_key = head.up_key.middleRows(group * width, width);
  out.up_value = head.up_value.middleRows(group * width, width);
  return out;
}

}  // namespace

GroupedWeights duplicate_queries(const LatentWeights& weights, const Slicing& slicing) {
  GroupedWeights out{.heads = {}, .groups = slicing.shards(), .scale = weights.scale()};
  for (Index group = 0; group < out.groups; ++group) {
    for (const LatentHead& head : weights.heads) {
      out.heads.push_back({.weights = slice_of(head, group, weights.rank() / out.groups),
                           .score_share = slicing.score_shares(group)});
    }
  }
  return out;
}

GroupedWeights split_heads(const LatentWeights& weights, Index groups) {
  const auto heads = static_cast<Index>(weights.heads.size());
  TS_EXPECTS(heads % groups == 0 && weights.rank() % groups == 0, heads, groups, weights.rank());
  GroupedWeights out{.heads = {}, .groups = groups, .scale = weights.scale()};
  for (Index head = 0; head < heads; ++head) {
    out.heads.push_back({.weights = slice_of(weights.heads[static_cast<std::size_t>(head)],
                                             head / (heads / groups), weights.rank() / groups)});
  }
  return out;
}

Matrix grouped_attention(const GroupedWeights& weights, const Matrix& states,
                         const LatentRows& rows, Index first) {
  const auto heads = static_cast<Index>(weights.heads.size());
  const Index width = rows.latent.cols() / weights.groups;
  Matrix out = Matrix::Zero(states.rows(), states.cols());
  for (Index i = 0; i < heads; ++i) {
    const GroupedHead& head = weights.heads[static_cast<std::size_t>(i)];
    const Matrix latent = rows.latent.middleCols(i / (heads / weights.groups) * width, width);
    const Matrix queries = (states * head.weights.query) * head.weights.up_key.transpose();
    const Matrix scores = queries * latent.transpose() / head.score_share +
                          rope_scores(head.weights, states, rows, first);
    const Matrix seen = causal_softmax(weights.scale * scores, first);
    out += ((seen * latent) * head.weights.up_value) * head.weights.out;
  }
  return out;
}

}  // namespace tiersim::numerics
