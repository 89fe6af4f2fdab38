#pragma once
// A decoder like T5 v1.1's in float64: RMSNorm before each part, self-attention over a cache,
// cross-attention over the encoder's tokens, gated feed-forward, residual adds.
//
// Left out: relative position biases (zero here) and dropout. Scores are not scaled, as in T5.
// Gains of the norms are folded into the matrices. Every function takes one token of one sequence,
// so that its result is independent of the batch, to the bit. Source: Raffel et al. 2020, section
// 2.1; Shazeer 2020 (gated GELU).
#include <vector>

#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

struct DecoderSizes {
  Eigen::Index depth = 64;  ///< width of a hidden state
  Eigen::Index heads = 4;
  Eigen::Index head = 16;
  Eigen::Index wide = 128;  ///< width of the feed-forward
  Eigen::Index vocabulary = 256;
  Eigen::Index layers = 8;  ///< as T5 v1.1 small
  Eigen::Index encoder_tokens = 8;
  /// Layer i adds about boost * saturation^i times the size of a normalised state to the state, so
  /// that states settle with depth. Early exit needs that (assumed; trained models do so, Geva et
  /// al. 2022).
  double boost = 1.0;
  double saturation = 0.75;
  double logit_deviation = 4.0;  ///< standard deviation over the vocabulary
};

struct DecoderLayer {
  Matrix query, key, value;  ///< depth x (heads head)
  Matrix out;                ///< (heads head) x depth
  Matrix cross_query, cross_key, cross_value;
  Matrix cross_out;
  Matrix gate, linear;  ///< depth x wide
  Matrix wide_out;      ///< wide x depth
};

struct Decoder {
  DecoderSizes sizes;
  std::vector<DecoderLayer> layers;
  Matrix embedding;  ///< vocabulary x depth
  Matrix head;       ///< depth x vocabulary
  double epsilon = 1e-6;
};

Decoder random_decoder(Rng& rng, const DecoderSizes& sizes);

/// Keys and values of one sequence at one layer, with a row for each token.
struct KvRows {
  Matrix keys;
  Matrix values;

  void append(const RowVector& key, const RowVector& value);
};

struct Sequence {
  std::vector<KvRows> self;   ///< one for each layer
  std::vector<KvRows> cross;  ///< one for each layer, over the encoder's tokens
};

/// encoder: tokens x depth, normalised.
Sequence new_sequence(const Decoder& decoder, const Matrix& encoder);

/// Appends the key and value that `layer` (from 0) makes of the normalised hidden state.
void append_kv(const Decoder& decoder, Eigen::Index layer, const RowVector& state,
               Sequence& sequence);

/// The next hidden state after `layer`; appends the token's key and value to the layer's cache.
RowVector run_layer(const Decoder& decoder, Eigen::Index layer, const RowVector& state,
                    Sequence& sequence);

/// Logits of the vocabulary from a hidden state after any layer.
RowVector logits(const Decoder& decoder, const RowVector& state);

/// The state divided by its root mean square.
RowVector normalised(const Decoder& decoder, const RowVector& state);

}  // namespace tiersim::numerics
