#include "workloads/numerics/tpla_sample.hpp"

#include <cmath>

#include "sim/base/check.hpp"
#include "workloads/numerics/latent_transforms.hpp"

namespace tiersim::numerics {
namespace {

Matrix random_states(Rng& rng, const TplaAssumptions& a, const Matrix& topics, Index tokens) {
  Matrix states = std::sqrt(1 - a.topic_share) * random_normal(rng, tokens, a.sizes.hidden);
  for (Index token = 0; token < tokens; ++token) {
    states.row(token) +=
        std::sqrt(a.topic_share) * topics.row(static_cast<Index>(rng.below(a.topics)));
  }
  return states;
}

Matrix transform_matrix(Rng& rng, const Matrix& moment, Transform transform) {
  switch (transform) {
    case Transform::identity:
      return Matrix::Identity(moment.cols(), moment.cols());
    case Transform::random:
      return random_orthogonal(rng, moment.cols());
    case Transform::hadamard:
      return signed_hadamard(rng, moment.cols());
    case Transform::pca:
      return principal_components(moment);
  }
  TS_INVARIANT(false, static_cast<int>(transform));
}

}  // namespace

TplaAssumptions decaying() {
  return {};
}

TplaAssumptions isotropic() {
  TplaAssumptions a;
  a.spectrum = {.exponent = 0, .outliers = 0, .outlier_scale = 1, .alignment = 0};
  a.topic_share = 0;
  return a;
}

TplaAssumptions paper_wide() {
  TplaAssumptions a;
  a.sizes = {.hidden = 576, .rank = 512, .rope = 64, .heads = 4, .head = 32};
  a.spectrum.outliers = 16;
  a.calibration_tokens = 2048;
  a.tokens = 64;
  return a;
}

TplaSample random_sample(Rng& rng, const TplaAssumptions& a) {
  const Matrix topics = random_normal(rng, static_cast<Index>(a.topics), a.sizes.hidden);
  TplaSample sample;
  sample.calibration = random_states(rng, a, topics, a.calibration_tokens);
  sample.states = random_states(rng, a, topics, a.tokens);
  sample.mla = with_sharpness(random_latent_weights(rng, a.sizes, a.spectrum),
                              sample.calibration.topRows(a.tokens), a.sharpness, a.rope_sharpness);
  sample.bare = with_gain_absorbed(sample.mla);
  return sample;
}

std::vector<Transform> all_transforms() {
  return {Transform::identity, Transform::random, Transform::hadamard, Transform::pca};
}

std::string_view name_of(Transform transform) {
  switch (transform) {
    case Transform::identity:
      return "identity";
    case Transform::random:
      return "random";
    case Transform::hadamard:
      return "Hadamard";
    case Transform::pca:
      return "PCA";
  }
  TS_INVARIANT(false, static_cast<int>(transform));
}

std::vector<TurnedSample> all_turned(Rng& rng, const TplaSample& sample) {
  const Matrix moment = second_moment(latent_rows(sample.bare, sample.calibration, 0).latent);
  std::vector<TurnedSample> out;
  for (const Transform transform : all_transforms()) {
    const Matrix turn = transform_matrix(rng, moment, transform);
    out.push_back({.transform = transform,
                   .turn = turn,
                   .weights = transformed(sample.bare, turn),
                   .energy = turned_energy(moment, turn)});
  }
  return out;
}

std::string_view name_of(Constants constants) {
  switch (constants) {
    case Constants::norm:
      return "norm";
    case Constants::both:
      return "norm and scores";
    case Constants::none:
      return "none";
  }
  TS_INVARIANT(false, static_cast<int>(constants));
}

Slicing slicing_of(const TurnedSample& turned, Constants constants, Index shards) {
  const bool balanced = turned.transform != Transform::pca;
  const Vector alpha = balanced || constants == Constants::none
                           ? equal_shares(shards)
                           : energy_shares(turned.energy, shards);
  return {.norm_shares = alpha,
          .score_shares = constants == Constants::both ? alpha : Vector::Ones(shards)};
}

}  // namespace tiersim::numerics
