#pragma once
// Weights of one layer of multi-head latent attention (MLA), random ones with a stated spectrum,
// and the two changes of them that leave what they compute unchanged.
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
  Eigen::Index rank = 64;  ///< of the latent
  Eigen::Index rope = 16;  ///< of the key that carries positions; even
  Eigen::Index heads = 8;
  Eigen::Index head = 16;  ///< of a key without position, and of a value
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
  /// What scores are multiplied with: 1 / sqrt(head + rope).
  double scale() const;
};

/// Every row over its root mean square (epsilon added to the mean), times the gain.
Matrix rms_norm_rows(const Matrix& rows, const RowVector& gain, double epsilon);

/// What random weights are like. Assumed: latents of trained models decay and have large channels
/// and their queries look for keys like themselves, but no paper read here prints how much.
/// Exponent 0, no outliers and alignment 0 is the isotropic case.
struct LatentSpectrum {
  /// Eigenvalue i of the raw latents' second moment is i^-exponent (for standard normal hidden
  /// states), in directions drawn at random; then `outliers` channels are multiplied by
  /// `outlier_scale`.
  double exponent = 1.0;
  Eigen::Index outliers = 2;
  double outlier_scale = 3.0;
  /// Share of the variance of a head's up_key that is the matrix by which its query reads the
  /// latent of its own token: 1 scores by likeness, 0 by chance.
  double alignment = 0.5;
};

LatentWeights random_latent_weights(Rng& rng, const LatentSizes& sizes,
                                    const LatentSpectrum& spectrum);

/// Other weights: the queries scaled so that over all pairs of `states` each head's scaled scores
/// have these standard deviations, without position and with.
LatentWeights with_sharpness(const LatentWeights& weights, const Matrix& states, double sharpness,
                             double rope_sharpness);

/// The same function with a gain of ones.
LatentWeights with_gain_absorbed(const LatentWeights& weights);

/// The same function with latents turned by an orthogonal matrix (rank x rank). Needs a gain of
/// ones, since a turn and other gains do not commute.
LatentWeights transformed(const LatentWeights& weights, const Matrix& orthogonal);

}  // namespace tiersim::numerics
