#pragma once
// Multi-head latent attention in float64, exact: the explicit form (keys and values are projected
// up from the latents) and the absorbed one (queries are projected down to the latents instead).
//
// Queries are those of the tokens at `first`, `first` + 1, ...; token i sees the cached rows 0 to
// i. Source: TPLA, equations 1 to 5 and 8; DeepSeek-V2, section 2.1.
#include "workloads/numerics/latent_weights.hpp"

namespace tiersim::numerics {

/// What is cached of a sequence, a row a token.
struct LatentRows {
  Matrix latent;    ///< tokens x rank, normalised
  Matrix rope_key;  ///< tokens x rope, turned to its position

  Eigen::Index tokens() const { return latent.rows(); }
  void append(const LatentRows& rows);
};

/// Rotary embedding of pairs (2i, 2i + 1) by position / 10000^(2i / columns); rows stand at
/// `first`, `first` + 1, ...
Matrix rotated(const Matrix& rows, Eigen::Index first);

/// Softmax of every row over what it may see: columns 0 to `first` + row; the rest is 0.
Matrix causal_softmax(const Matrix& scores, Eigen::Index first);

/// hidden states (tokens x hidden) to what is cached of them.
LatentRows latent_rows(const LatentWeights& weights, const Matrix& states, Eigen::Index first);

/// The part of a head's scores that carries positions, before scaling: queries x tokens.
Matrix rope_scores(const LatentHead& head, const Matrix& states, const LatentRows& rows,
                   Eigen::Index first);

/// Output of the layer (queries x hidden), with keys and values projected up.
Matrix explicit_attention(const LatentWeights& weights, const Matrix& states,
                          const LatentRows& rows, Eigen::Index first);

/// The same by attention over the latents themselves.
Matrix absorbed_attention(const LatentWeights& weights, const Matrix& states,
                          const LatentRows& rows, Eigen::Index first);

}  // namespace tiersim::numerics
