#pragma once
// What the study of TPLA computes on: a layer, the tokens that calibrate it and others that it is
// tried on, and the ways to reparameterise and slice it.
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/numerics/latent_slicing.hpp"

namespace tiersim::numerics {

/// Hidden states are sqrt(share) topic + sqrt(1 - share) noise, both standard normal, so that
/// tokens of a topic are alike (assumed).
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

/// Latents that decay, with large channels, topics, and queries that look for their like.
TplaAssumptions decaying();
/// Nothing to find for any transform: every direction and token is like every other.
TplaAssumptions isotropic();
/// decaying() at the width of DeepSeek-V3's and Kimi-K2's latent: 512 + 64.
TplaAssumptions paper_wide();

struct TplaSample {
  LatentWeights mla;   ///< as trained: with a gain
  LatentWeights bare;  ///< the gain absorbed
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
  LatentWeights weights;  ///< bare ones, transformed
  Vector energy;          ///< mean squares of the normalised latents, on the calibration tokens
};

/// Under every transform; principal components are those of the calibration tokens.
std::vector<TurnedSample> all_turned(Rng& rng, const TplaSample& sample);

/// What slices know of the whole. Section 4.3 gives both constants of a transform as its shares of
/// the energy: equal for all but principal components, whose are sums of eigenvalues.
enum class Constants {
  norm,  ///< alpha; scores of a slice are taken as they are
  both,  ///< alpha, and scores over beta = alpha
  none,  ///< a slice takes itself for the whole
};
std::string_view name_of(Constants constants);

Slicing slicing_of(const TurnedSample& turned, Constants constants, Eigen::Index shards);

}  // namespace tiersim::numerics
