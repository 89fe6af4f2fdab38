#include "workloads/numerics/latent_attention.hpp"

#include <cmath>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {

void LatentRows::append(const LatentRows& rows) {
  Matrix latents(latent.rows() + rows.latent.rows(), rows.latent.cols());
  latents << latent, rows.latent;
  latent = latents;
  Matrix keys(rope_key.rows() + rows.rope_key.rows(), rows.rope_key.cols());
  keys << rope_key, rows.rope_key;
  rope_key = keys;
}

Matrix rotated(const Matrix& rows, Index first) {
  Matrix out = rows;
  for (Index pair = 0; pair + 1 < rows.cols(); pair += 2) {
    const double turn =
        portable_pow(10000, -static_cast<double>(pair) / static_cast<double>(rows.cols()));
    for (Index row = 0; row < rows.rows(); ++row) {
      const double angle = static_cast<double>(first + row) * turn;
      const double x = rows(row, pair);
      const double y = rows(row, pair + 1);
      out(row, pair) = x * std::cos(angle) - y * std::sin(angle);
      out(row, pair + 1) = x * std::sin(angle) + y * std::cos(angle);
    }
  }
  return out;
}

Matrix causal_softmax(const Matrix& scores, Index first) {
  TS_EXPECTS(first + scores.rows() <= scores.cols(), first, scores.rows(), scores.cols());
  Matrix out = Matrix::Zero(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row) {
    const Index seen = first + row + 1;
    out.row(row).head(seen) = softmax_rows(scores.row(row).head(seen));
  }
  return out;
}

LatentRows latent_rows(const LatentWeights& weights, const Matrix& states, Index first) {
  return {.latent = rms_norm_rows(states * weights.down, weights.gain, weights.epsilon),
          .rope_key = rotated(states * weights.rope_key, first)};
}

Matrix rope_scores(const LatentHead& head, const Matrix& states, const LatentRows& rows,
                   Index first) {
  return rotated(states * head.rope_query, first) * rows.rope_key.transpose();
}

Matrix explicit_attention(const LatentWeights& weights, const Matrix& states,
                          const LatentRows& rows, Index first) {
  Matrix out = Matrix::Zero(states.rows(), weights.down.rows());
  for (const LatentHead& head : weights.heads) {
    const Matrix keys = rows.latent * head.up_key;
    const Matrix values = rows.latent * head.up_value;
    const Matrix scores = (states * head.query) * keys.transpose();
    const Matrix seen =
        causal_softmax(weights.scale() * (scores + rope_scores(head, states, rows, first)), first);
    out += (seen * values) * head.out;
  }
  return out;
}

Matrix absorbed_attention(const LatentWeights& weights, const Matrix& states,
                          const LatentRows& rows, Index first) {
  Matrix out = Matrix::Zero(states.rows(), weights.down.rows());
  for (const LatentHead& head : weights.heads) {
    const Matrix queries = (states * head.query) * head.up_key.transpose();
    const Matrix scores = queries * rows.latent.transpose();
    const Matrix seen =
        causal_softmax(weights.scale() * (scores + rope_scores(head, states, rows, first)), first);
    out += ((seen * rows.latent) * head.up_value) * head.out;
  }
  return out;
}

}  // namespace tiersim::numerics
