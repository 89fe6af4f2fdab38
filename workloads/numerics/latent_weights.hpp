#pragma once
// Weights of one layer of multi-head latent attention (MLA): random weights of a given spectrum,
// and two transformations that keep the layer's function.
//
//   LatentWeights w = with_sharpness(random_latent_weights(rng, {}, {}), states, 2, 1);
//   w = with_gain_absorbed(w);       // the norm's gain moves into the up-projections
//   w = transformed(w, hadamard);    // latents c become c U, the up-projections U^T W
//
// Rows are tokens, so a projection multiplies from the right. Source: DeepSeek-V2, section 2.1;
// TPLA, sections 3.1, 3.3 and 4.1 (equation 17).
#include <vector>

#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

struct LatentSizes {
  Eigen::Index hidden = 128;
  Eigen::Index rank = 64;  ///< width of the latent
  Eigen::Index rope = 16;  ///< width of the rotary key; even
  Eigen::Index heads = 8;
  Eigen::Index head = 16;  ///< width of a key without position, and of a value
};

struct LatentHead {
  Matrix query;       ///< hidden x head
  Matrix rope_query;  ///< hidden x rope
  Matrix up_key;      ///< rank x head
  Matrix up_value;    ///< rank x head
  Matrix out;         ///< head x hidden
};

struct LatentWeights {
  Matrix down;      ///< hidden x rank
  RowVector gain;   ///< rank
  Matrix rope_key;  ///< hidden x rope, shared by the heads
  std::vector<LatentHead> heads;
  double epsilon = 1e-6;

  Eigen::Index rank() const { return down.cols(); }
  /// Factor of the scores: 1 / sqrt(head + rope).
  double scale() const;
};

/// Every row over its root mean square (epsilon added to the mean), times the gain.
Matrix rms_norm_rows(const Matrix& rows, const RowVector& gain, double epsilon);

/// Properties of random weights. Assumed: in trained models the latents' spectrum decays, some
/// channels are large, and queries score keys like themselves; no paper read here states how much.
/// Exponent 0, no outliers and alignment 0 is the isotropic case.
struct LatentSpectrum {
  /// Eigenvalue i of the raw latents' second-moment matrix is i^-exponent (for standard normal
  /// hidden states), in random directions. Then `outliers` channels are multiplied by
  /// `outlier_scale`.
  double exponent = 1.0;
  Eigen::Index outliers = 2;
  double outlier_scale = 3.0;
  /// Share of the variance of a head's up_key that comes from the matrix by which its query reads
  /// the latent of its own token: 1 scores by similarity, 0 at random.
  double alignment = 0.5;
};

LatentWeights random_latent_weights(Rng& rng, const LatentSizes& sizes,
                                    const LatentSpectrum& spectrum);

/// The weights with scaled queries. Over all pairs of `states`, each head's scaled scores then have
/// these standard deviations: `sharpness` without position, `rope_sharpness` with it.
LatentWeights with_sharpness(const LatentWeights& weights, const Matrix& states, double sharpness,
                             double rope_sharpness);

/// The same function with a gain of ones, by changed up-projections.
LatentWeights with_gain_absorbed(const LatentWeights& weights);

/// The same function with latents rotated by an orthogonal matrix (rank x rank). The gain must be
/// ones, since other gains do not commute with a rotation.
LatentWeights transformed(const LatentWeights& weights, const Matrix& orthogonal);

}  // namespace tiersim::numerics
