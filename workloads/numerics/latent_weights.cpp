#include "workloads/numerics/latent_weights.hpp"

#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {
namespace {

using Eigen::Index;

// Independent normals that keep the variance of what is multiplied with them.
Matrix projection(Rng& rng, Index rows, Index columns) {
  return random_normal(rng, rows, columns) / std::sqrt(static_cast<double>(rows));
}

// Turned, so that the directions of large variance are not channels; then the large channels.
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

}  // namespace

double LatentWeights::scale() const {
  return 1 / std::sqrt(static_cast<double>(heads.front().query.cols() + rope_key.cols()));
}

LatentWeights random_latent_weights(Rng& rng, const LatentSizes& sizes,
                                    const LatentSpectrum& spectrum) {
  TS_EXPECTS(sizes.rope % 2 == 0, sizes.rope);
  LatentWeights w;
  w.down = down_projection(rng, sizes, spectrum);
  w.gain = RowVector::Ones(sizes.rank) + 0.25 * random_normal(rng, 1, sizes.rank);
  w.rope_key = projection(rng, sizes.hidden, sizes.rope);
  // A score sums `head` (or `rope`) products of unit variance and is then scaled.
  const double wide = static_cast<double>(sizes.head + sizes.rope);
  const double sharpen = spectrum.sharpness * std::sqrt(wide / static_cast<double>(sizes.head));
  const double place = std::sqrt(wide / static_cast<double>(sizes.rope));
  for (Index head = 0; head < sizes.heads; ++head) {
    LatentHead h;
    h.query = sharpen * projection(rng, sizes.hidden, sizes.head);
    h.rope_query = place * projection(rng, sizes.hidden, sizes.rope);
    h.up_key = projection(rng, sizes.rank, sizes.head);
    h.up_value = projection(rng, sizes.rank, sizes.head);
    h.out = projection(rng, sizes.head, sizes.hidden);
    w.heads.push_back(std::move(h));
  }
  return w;
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
