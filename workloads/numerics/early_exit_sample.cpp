#include "workloads/numerics/early_exit_sample.hpp"

#include <utility>

namespace tiersim::numerics {
namespace {

constexpr int kTokensBefore = 2;
constexpr double kRidge = 1.0;

DecodedToken decoded_token(Rng& rng, const Decoder& decoder) {
  Matrix encoder = random_normal(rng, decoder.sizes.encoder_tokens, decoder.sizes.depth);
  DecodedToken out{.before = new_sequence(decoder, encoder), .states = {}};
  for (int i = 0; i < kTokensBefore; ++i) {
    step_to(decoder, decoder.sizes.layers, random_token(rng, decoder), out.before);
  }
  Sequence after = out.before;
  out.states = trajectory(decoder, random_token(rng, decoder), after);
  return out;
}

Classifier trained(Rng& rng, const Decoder& decoder, int tokens) {
  const Index layers = decoder.sizes.layers;
  Matrix features(tokens * (layers - 1), decoder.sizes.depth);
  Vector labels(features.rows());
  Index row = 0;
  for (int i = 0; i < tokens; ++i) {
    const DecodedToken token = decoded_token(rng, decoder);
    const Index last = best_token(decoder, token.states.back());
    for (std::size_t layer = 1; layer + 1 < token.states.size(); ++layer, ++row) {
      features.row(row) = normalised(decoder, token.states[layer]);
      labels(row) = best_token(decoder, token.states[layer]) == last ? 1 : 0;
    }
  }
  return fit_classifier(features, labels, kRidge);
}

}  // namespace

ExitRule EarlyExitSample::rule(Measure measure, double threshold) const {
  return {.measure = measure, .threshold = threshold, .classifier = &classifier};
}

RowVector random_token(Rng& rng, const Decoder& decoder) {
  const auto vocabulary = static_cast<std::uint64_t>(decoder.sizes.vocabulary);
  return decoder.embedding.row(static_cast<Index>(rng.below(vocabulary)));
}

Index best_token(const Decoder& decoder, const RowVector& state) {
  Index best = 0;
  logits(decoder, state).maxCoeff(&best);
  return best;
}

EarlyExitSample random_early_exit_sample(std::uint64_t seed, const DecoderSizes& sizes, int tokens,
                                         int training_tokens) {
  Rng rng(seed, "early exit");
  EarlyExitSample sample{.decoder = random_decoder(rng, sizes), .classifier = {}, .tokens = {}};
  sample.classifier = trained(rng, sample.decoder, training_tokens);
  for (int i = 0; i < tokens; ++i) sample.tokens.push_back(decoded_token(rng, sample.decoder));
  return sample;
}

}  // namespace tiersim::numerics
