#include "workloads/numerics/latent_slicing.hpp"

#include <cmath>
#include <vector>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

// A slice's share is a share of the total energy, so the mean over the whole is energy / share /
// rank.
Matrix sliced_norm(const Matrix& rows, const Vector& shares, double epsilon) {
  const Index width = rows.cols() / shares.size();
  Matrix out = rows;
  for (Index shard = 0; shard < shares.size(); ++shard) {
    for (Index row = 0; row < rows.rows(); ++row) {
      const auto slice = rows.row(row).segment(shard * width, width);
      const double mean = slice.squaredNorm() / (shares(shard) * static_cast<double>(rows.cols()));
      out.row(row).segment(shard * width, width) = slice / std::sqrt(mean + epsilon);
    }
  }
  return out;
}

}  // namespace

LatentRows sliced_rows(const LatentWeights& weights, const Slicing& slicing, const Matrix& states,
                       Index first) {
  TS_EXPECTS((weights.gain.array() == 1).all());
  TS_EXPECTS(weights.rank() % slicing.shards() == 0, weights.rank(), slicing.shards());
  if (!slicing.norm) return latent_rows(weights, states, first);
  return {.latent = sliced_norm(states * weights.down, slicing.norm_shares, weights.epsilon),
          .rope_key = rotated(states * weights.rope_key, first)};
}

Matrix sliced_attention(const LatentWeights& weights, const Slicing& slicing, const Matrix& states,
                        const LatentRows& rows, Index first) {
  TS_EXPECTS(weights.rank() % slicing.shards() == 0, weights.rank(), slicing.shards());
  if (!slicing.softmax) return absorbed_attention(weights, states, rows, first);
  const Index width = weights.rank() / slicing.shards();
  Matrix out = Matrix::Zero(states.rows(), weights.down.rows());
  std::vector<Matrix> queries;
  std::vector<Matrix> places;  // the uncut positional part, the same for every shard
  for (const LatentHead& head : weights.heads) {
    queries.emplace_back(states * head.query);
    places.push_back(rope_scores(head, states, rows, first));
  }
  for (Index shard = 0; shard < slicing.shards(); ++shard) {
    const Matrix latent = rows.latent.middleCols(shard * width, width);
    for (std::size_t i = 0; i < weights.heads.size(); ++i) {
      const LatentHead& head = weights.heads[i];
      const Matrix up_key = head.up_key.middleRows(shard * width, width);
      const Matrix up_value = head.up_value.middleRows(shard * width, width);
      const Matrix part = (queries[i] * up_key.transpose()) * latent.transpose();
      const Matrix scores = part / slicing.score_shares(shard) + places[i];
      const Matrix seen = causal_softmax(weights.scale() * scores, first);
      out += ((seen * latent) * up_value) * head.out;
    }
  }
  return out;
}

}  // namespace tiersim::numerics
