#pragma once
// Weights of one layer of multi-head latent attention (MLA), random ones with a stated spectrum,
// and the two changes of them that leave what they compute unchanged.
//
//   LatentWeights w = random_latent_weights(rng, {}, {});
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

/// The second moment of the latents of standard normal hidden states: eigenvalue i is i^-exponent,
/// in directions drawn at random, and `outliers` channels are then multiplied by `outlier_scale`.
/// Assumed: latents of trained models decay and have large channels, but no paper read here prints
/// their spectrum. Exponent 0 without outliers is the isotropic case.
struct LatentSpectrum {
  double exponent = 1.0;
  Eigen::Index outliers = 2;
  double outlier_scale = 3.0;
  /// Standard deviation of the scores' part without position; that with position has 1.
  double sharpness = 2.0;
};

LatentWeights random_latent_weights(Rng& rng, const LatentSizes& sizes,
                                    const LatentSpectrum& spectrum);

/// The same function with a gain of ones.
LatentWeights with_gain_absorbed(const LatentWeights& weights);

/// The same function with latents turned by an orthogonal matrix (rank x rank). Needs a gain of
/// ones, since a turn and other gains do not commute.
LatentWeights transformed(const LatentWeights& weights, const Matrix& orthogonal);

}  // namespace tiersim::numerics
