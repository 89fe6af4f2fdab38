#pragma once
// An attention layer whose scores have the published structure of trained layers: attention sinks,
// heavy hitters, recency, topics, retrieval of single tokens, keys with outlier channels and a
// power-law spectrum. Everything is linear in hidden states X: Q = X W_Q, K = X W_K, V = X W_V, so
// that a projection of X (MAPLE) works as in a model. Rotary embedding is left out.
//
//   Rng rng(seed, "layer");
//   const SyntheticLayer layer({}, rng);
//   Rng text(seed, "text");
//   const Matrix x = layer.hidden_states(text, 1024);     // tokens x hidden
//   const AttentionSample head = layer.sample(x, /*head=*/0);
//
// A logit (q k / sqrt(head_dim)) is a sum of parts, each with a size named below; each head draws a
// random factor for each part, so that heads differ.
#include <string>
#include <vector>

#include "workloads/numerics/attention_sample.hpp"

namespace tiersim::numerics {

/// A size is assumed where the sources below describe an effect without a number.
struct SyntheticSpec {
  Index heads = 4;
  Index head_dim = 64;  ///< a multiple of 16
  Index tokens = 1024;
  Index decode_steps = 48;       ///< the last positions
  double spectrum_exponent = 1;  ///< variance of the j-th direction of a part is j^-exponent
  Index spread = 8;              ///< channels of the head over which a direction is spread
  Index sinks = 4;               ///< first positions, which every query attends to
  double sink_logit = 6;         ///< added to the logit of a sink
  double heavy_share = 0.02;     ///< share of positions that every query attends to
  double heavy_logit = 3;        ///< added to the logit of such a position
  Index topics = 16;             ///< distinct topics in a text
  double segment = 64;           ///< mean number of positions that a topic lasts
  double topic_logit = 2;        ///< added, on average, within one topic
  double drift_memory = 0.96;    ///< correlation of a slow feature from one position to the next
  double drift_logit = 3;        ///< added at distance 0, times drift_memory^distance
  double ask_share = 0.5;        ///< share of positions that look for one earlier token
  double ask_logit = 7;          ///< added to that token's logit, on average
  double noise_logit = 0.7;      ///< standard deviation of the unstructured part
  double unread = 0.3;           ///< size of the features that the heads barely read
  Index outlier_channels = 2;    ///< channels of the keys with a large mean
  double outlier_mean = 8;       ///< that mean, in standard deviations of a usual channel
  double head_factor = 1.5;      ///< a head's factors on the parts are between 1/this and this

  Index hidden() const { return heads * head_dim; }
};

/// A parameter with its name, value and source.
struct SyntheticParameter {
  std::string name;
  double value = 0;
  std::string source;
};
std::vector<SyntheticParameter> parameters_of(const SyntheticSpec& spec);

class SyntheticLayer {
 public:
  SyntheticLayer(const SyntheticSpec& spec, Rng& rng);

  /// The hidden states of one text of `tokens` tokens: tokens x hidden.
  Matrix hidden_states(Rng& rng, Index tokens) const;
  /// Queries, keys and values of head `head` from these hidden states.
  AttentionSample sample(const Matrix& x, Index head) const;

  const SyntheticSpec& spec() const { return spec_; }

 private:
  struct HeadWeights {
    Matrix q;  // hidden x head_dim
    Matrix k;
    Matrix v;
  };
  HeadWeights draw_head(Rng& rng) const;

  SyntheticSpec spec_;
  Matrix turn_;  // from features to hidden channels, orthogonal
  std::vector<HeadWeights> heads_;
};

}  // namespace tiersim::numerics
