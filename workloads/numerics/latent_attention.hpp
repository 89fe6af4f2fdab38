#pragma once
// Multi-head latent attention in float64, without approximation: the explicit form (keys and values
// are projected up from the latents) and the absorbed form (queries are projected down to the
// latents instead).
//
// Queries are those of the tokens at `first`, `first` + 1, ...; token i attends to the cached rows
// 0 to i. Source: TPLA, equations 1 to 5 and 8; DeepSeek-V2, section 2.1.
#include "workloads/numerics/latent_weights.hpp"

namespace tiersim::numerics {

/// The cache of a sequence, with a row for each token.
struct LatentRows {
  Matrix latent;    ///< tokens x rank, normalised
  Matrix rope_key;  ///< tokens x rope, rotated by position

  Eigen::Index tokens() const { return latent.rows(); }
  void append(const LatentRows& rows);
};

/// Rotary embedding of pairs (2i, 2i + 1) by position / 10000^(2i / columns). The rows are at
/// positions `first`, `first` + 1, ...
Matrix rotated(const Matrix& rows, Eigen::Index first);

/// Softmax of every row over columns 0 to `first` + row; the other columns are 0.
Matrix causal_softmax(const Matrix& scores, Eigen::Index first);

/// Cached rows from hidden states (tokens x hidden).
LatentRows latent_rows(const LatentWeights& weights, const Matrix& states, Eigen::Index first);

/// The positional part of a head's scores, before scaling: queries x tokens.
Matrix rope_scores(const LatentHead& head, const Matrix& states, const LatentRows& rows,
                   Eigen::Index first);

/// Output of the layer (queries x hidden), with keys and values projected up.
Matrix explicit_attention(const LatentWeights& weights, const Matrix& states,
                          const LatentRows& rows, Eigen::Index first);

/// Output of the layer, by attention over the latents themselves.
Matrix absorbed_attention(const LatentWeights& weights, const Matrix& states,
                          const LatentRows& rows, Eigen::Index first);

}  // namespace tiersim::numerics
