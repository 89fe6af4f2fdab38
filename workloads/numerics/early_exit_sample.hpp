#pragma once
// Input of the early-exit study: a random decoder, sequences that have decoded a few tokens at full
// depth, and the next token of each at every layer.
#include <cstdint>
#include <vector>

#include "workloads/numerics/early_exit_batch.hpp"

namespace tiersim::numerics {

struct DecodedToken {
  Sequence before;                ///< caches without the token
  std::vector<RowVector> states;  ///< after the embedding, then after each layer
};

struct EarlyExitSample {
  Decoder decoder;
  /// Predicts that the best token of a state equals that of the last layer (CALM's independent
  /// objective); fitted on other tokens.
  Classifier classifier;
  std::vector<DecodedToken> tokens;

  ExitRule rule(Measure measure, double threshold) const;
  Eigen::Index layers() const { return decoder.sizes.layers; }
};

EarlyExitSample random_early_exit_sample(std::uint64_t seed, const DecoderSizes& sizes, int tokens,
                                         int training_tokens);

/// The embedding of a token drawn at random.
RowVector random_token(Rng& rng, const Decoder& decoder);

/// Index of the largest logit.
Eigen::Index best_token(const Decoder& decoder, const RowVector& state);

}  // namespace tiersim::numerics
