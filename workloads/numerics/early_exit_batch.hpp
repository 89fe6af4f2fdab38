#pragma once
// Algorithm 1 of Miao et al. 2024 (early exit): one token of every sequence of a batch, layer by
// layer, until all have been accepted once; then the keys and values of the layers not run are made
// from the last hidden state.
//
// The paper's box gives Status the length n, which there is the number of layers; line 5 joins it
// with `accepted` of the batch and section 3.1 keeps one for each sequence, so it is as long as the
// batch here. The box leaves output_layer unset where some sequence is never accepted: that is n.
#include <vector>

#include "workloads/numerics/early_exit_rule.hpp"

namespace tiersim::numerics {

struct BatchStep {
  Eigen::Index output_layer = 0;          ///< layers run, 1 to n
  std::vector<Eigen::Index> accepted_at;  ///< by sequence: its first accepted layer, 0 for never
  std::vector<RowVector> states;          ///< by sequence, after output_layer
};

/// states: by sequence, the embedded tokens.
BatchStep step_batch(const Decoder& decoder, const ExitRule& rule, std::vector<RowVector> states,
                     std::vector<Sequence>& batch);

/// Layers 1 to `layers` of one sequence, and the keys and values of the others from what they give.
RowVector step_to(const Decoder& decoder, Eigen::Index layers, RowVector state, Sequence& sequence);

/// Hidden states of one token: the embedded one, then after each layer. Appends to all caches.
std::vector<RowVector> trajectory(const Decoder& decoder, RowVector state, Sequence& sequence);

/// Confidence after each layer of a trajectory.
std::vector<double> confidences(const Decoder& decoder, const ExitRule& rule,
                                const std::vector<RowVector>& states);

/// The first layer (from 1) whose confidence is above the threshold; 0 for none.
Eigen::Index first_accepted(const std::vector<double>& confidences, double threshold);

}  // namespace tiersim::numerics
