#include "workloads/numerics/early_exit_batch.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim::numerics {

BatchStep step_batch(const Decoder& decoder, const ExitRule& rule, std::vector<RowVector> states,
                     std::vector<Sequence>& batch) {
  TS_EXPECTS(states.size() == batch.size() && !batch.empty(), states.size(), batch.size());
  const Index n = decoder.sizes.layers;
  BatchStep step{.output_layer = n, .accepted_at = std::vector<Index>(batch.size()), .states = {}};
  for (Index layer = 1; layer <= n; ++layer) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      RowVector after = run_layer(decoder, layer - 1, states[row], batch[row]);
      const bool accepted = confidence(decoder, rule, states[row], after) > rule.threshold;
      if (accepted && step.accepted_at[row] == 0) step.accepted_at[row] = layer;
      states[row] = std::move(after);
    }
    if (std::find(step.accepted_at.begin(), step.accepted_at.end(), 0) == step.accepted_at.end()) {
      step.output_layer = layer;
      break;
    }
  }
  for (Index layer = step.output_layer; layer < n; ++layer) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      append_kv(decoder, layer, states[row], batch[row]);
    }
  }
  step.states = std::move(states);
  return step;
}

RowVector step_to(const Decoder& decoder, Index layers, RowVector state, Sequence& sequence) {
  for (Index layer = 0; layer < layers; ++layer) {
    state = run_layer(decoder, layer, state, sequence);
  }
  for (Index layer = layers; layer < decoder.sizes.layers; ++layer) {
    append_kv(decoder, layer, state, sequence);
  }
  return state;
}

std::vector<RowVector> trajectory(const Decoder& decoder, RowVector state, Sequence& sequence) {
  std::vector<RowVector> states = {std::move(state)};
  for (Index layer = 0; layer < decoder.sizes.layers; ++layer) {
    states.push_back(run_layer(decoder, layer, states.back(), sequence));
  }
  return states;
}

std::vector<double> confidences(const Decoder& decoder, const ExitRule& rule,
                                const std::vector<RowVector>& states) {
  std::vector<double> out;
  for (std::size_t i = 1; i < states.size(); ++i) {
    out.push_back(confidence(decoder, rule, states[i - 1], states[i]));
  }
  return out;
}

Index first_accepted(const std::vector<double>& confidences, double threshold) {
  const auto at =
      std::find_if(confidences.begin(), confidences.end(), [&](double c) { return c > threshold; });
  return at == confidences.end() ? 0 : at - confidences.begin() + 1;
}

}  // namespace tiersim::numerics
