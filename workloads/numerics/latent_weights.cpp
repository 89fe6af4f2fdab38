#include "workloads/numerics/latent_weights.hpp"

#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {
namespace {

// Independent normals of a variance that the product with the input keeps.
Matrix projection(Rng& rng, Index rows, Index columns) {
  return random_normal(rng, rows, columns) / std::sqrt(static_cast<double>(rows));
}

// A random rotation moves the directions of large variance off the channels; some channels are then
// made outliers.
Matrix down_projection(Rng& rng, const LatentSizes& sizes, const LatentSpectrum& spectrum) {
  Matrix down = projection(rng, sizes.hidden, sizes.rank);
  for (Index i = 0; i < sizes.rank; ++i) {
    down.col(i) *= portable_pow(static_cast<double>(i + 1), -spectrum.exponent / 2);
  }
  down *= random_orthogonal(rng, sizes.rank);
  for (Index i = 0; i < spectrum.outliers; ++i) {
    down.col(static_cast<Index>(rng.below(static_cast<std::uint64_t>(sizes.rank)))) *=
        spectrum.outlier_scale;
  }
  return down;
}

double deviation(const Matrix& values) {
  return (values.array() - values.mean()).matrix().norm() /
         std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

Matrix rms_norm_rows(const Matrix& rows, const RowVector& gain, double epsilon) {
  Matrix out = rows;
  for (Index row = 0; row < rows.rows(); ++row) {
    const double mean = rows.row(row).squaredNorm() / static_cast<double>(rows.cols());
    out.row(row) = (rows.row(row) / std::sqrt(mean + epsilon)).cwiseProduct(gain);
  }
  return out;
}

double LatentWeights::scale() const {
  return 1 / std::sqrt(static_cast<double>(heads.front().query.cols() + rope_key.cols()));
}

LatentWeights random_latent_weights(Rng& rng, const LatentSizes& sizes,
                                    const LatentSpectrum& spectrum) {
  TS_EXPECTS(sizes.rope % 2 == 0, sizes.rope);
  TS_EXPECTS(spectrum.alignment >= 0 && spectrum.alignment <= 1, spectrum.alignment);
  LatentWeights w;
  w.down = down_projection(rng, sizes, spectrum);
  w.gain = RowVector::Ones(sizes.rank) + 0.25 * random_normal(rng, 1, sizes.rank);
  w.rope_key = projection(rng, sizes.hidden, sizes.rope);
  for (Index head = 0; head < sizes.heads; ++head) {
    LatentHead h;
    const Matrix likeness = projection(rng, sizes.rank, sizes.head);
    const Matrix chance = projection(rng, sizes.rank, sizes.head);
    h.query = w.down * likeness;
    h.up_key =
        std::sqrt(spectrum.alignment) * likeness + std::sqrt(1 - spectrum.alignment) * chance;
    h.rope_query = projection(rng, sizes.hidden, sizes.rope);
    h.up_value = projection(rng, sizes.rank, sizes.head);
    h.out = projection(rng, sizes.head, sizes.hidden);
    w.heads.push_back(std::move(h));
  }
  return w;
}

LatentWeights with_sharpness(const LatentWeights& weights, const Matrix& states, double sharpness,
                             double rope_sharpness) {
  LatentWeights out = weights;
  const Matrix latent = rms_norm_rows(states * weights.down, weights.gain, weights.epsilon);
  const Matrix rope_key = states * weights.rope_key;
  for (LatentHead& head : out.heads) {
    const Matrix keys = latent * head.up_key;
    head.query *= sharpness / deviation(weights.scale() * (states * head.query) * keys.transpose());
    head.rope_query *= rope_sharpness / deviation(weights.scale() * (states * head.rope_query) *
                                                  rope_key.transpose());
  }
  return out;
}

LatentWeights with_gain_absorbed(const LatentWeights& weights) {
  LatentWeights out = weights;
  for (LatentHead& head : out.heads) {
    head.up_key = weights.gain.transpose().asDiagonal() * head.up_key;
    head.up_value = weights.gain.transpose().asDiagonal() * head.up_value;
  }
  out.gain.setOnes();
  return out;
}

LatentWeights transformed(const LatentWeights& weights, const Matrix& orthogonal) {
  TS_EXPECTS((weights.gain.array() == 1).all());
  TS_EXPECTS(orthogonal.rows() == weights.rank() && orthogonal.cols() == weights.rank(),
             orthogonal.rows(), orthogonal.cols(), weights.rank());
  LatentWeights out = weights;
  out.down = weights.down * orthogonal;
  for (LatentHead& head : out.heads) {
    head.up_key = (orthogonal.transpose() * head.up_key).eval();
    head.up_value = (orthogonal.transpose() * head.up_value).eval();
  }
  return out;
}

}  // namespace tiersim::numerics
