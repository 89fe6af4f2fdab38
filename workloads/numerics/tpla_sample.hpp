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
  Eigen::Index calibration_tokens = 512;
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

/// The orthogonal matrix, found on the calibration tokens where it is found on tokens.
Matrix transform_matrix(Rng& rng, const TplaSample& sample, Transform transform);

/// The constants alpha and beta of a transform: its shares of the energy (TPLA, 4.3), which are
/// equal by construction for all but principal components; or none, each shard taking its slice for
/// all.
enum class Constants { shares, none };

Slicing slicing_of(const LatentWeights& transformed, const Matrix& calibration, Transform transform,
                   Constants constants, Eigen::Index shards);

}  // namespace tiersim::numerics
