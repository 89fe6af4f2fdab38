#pragma once
// Input of the TPLA study: a layer, its calibration tokens and test tokens, and the ways to
// reparameterise and slice it.
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/numerics/latent_slicing.hpp"

namespace tiersim::numerics {

/// Hidden states are sqrt(share) topic + sqrt(1 - share) noise, both standard normal, so that
/// tokens of a topic are similar (assumed).
struct TplaAssumptions {
  LatentSizes sizes;
  LatentSpectrum spectrum;
  std::uint64_t topics = 16;
  double topic_share = 0.5;
  double sharpness = 2.0;
  double rope_sharpness = 1.0;
  Eigen::Index calibration_tokens = 256;
  Eigen::Index tokens = 128;
};

/// Latents with decaying spectrum, large channels, topics, and queries that score similar keys.
TplaAssumptions decaying();
/// No structure for any transform to exploit: all directions and tokens are alike.
TplaAssumptions isotropic();
/// decaying() with the latent width of DeepSeek-V3 and Kimi-K2: 512 + 64.
TplaAssumptions paper_wide();

struct TplaSample {
  LatentWeights mla;   ///< as trained, with a gain
  LatentWeights bare;  ///< gain absorbed
  Matrix calibration;  ///< tokens x hidden
  Matrix states;       ///< tokens x hidden
};

TplaSample random_sample(Rng& rng, const TplaAssumptions& assumptions);

enum class Transform { identity, random, hadamard, pca };
std::vector<Transform> all_transforms();
std::string_view name_of(Transform transform);

/// A sample's layer under one transform.
struct TurnedSample {
  Transform transform = Transform::identity;
  Matrix turn;            ///< orthogonal, rank x rank
  LatentWeights weights;  ///< `bare`, transformed
  Vector energy;          ///< mean squares of the normalised latents, on the calibration tokens
};

/// One sample for every transform; principal components are those of the calibration tokens.
std::vector<TurnedSample> all_turned(Rng& rng, const TplaSample& sample);

/// Constants by which slices estimate the whole. Section 4.3 gives both constants of a transform as
/// its shares of the energy: equal shares, or for principal components the sums of eigenvalues.
enum class Constants {
  norm,  ///< alpha; a slice's scores are not scaled
  both,  ///< alpha, and scores over beta = alpha
  none,  ///< a slice is taken for the whole
};
std::string_view name_of(Constants constants);

Slicing slicing_of(const TurnedSample& turned, Constants constants, Eigen::Index shards);

}  // namespace tiersim::numerics
