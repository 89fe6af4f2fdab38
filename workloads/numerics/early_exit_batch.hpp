#pragma once
// Algorithm 1 of Miao et al. 2024 (early exit): one token of every sequence of a batch, layer by
// layer, until all have been accepted once. The keys and values of the skipped layers are then
// made from the last hidden state.
//
// The paper's box gives Status the length n, there the number of layers. But line 5 joins it with
// `accepted` of the batch and section 3.1 keeps one for each sequence, so here its length is that
// of the batch. The box leaves output_layer unset where a sequence is never accepted: here it is n.
#include <vector>

#include "workloads/numerics/early_exit_rule.hpp"

namespace tiersim::numerics {

struct BatchStep {
  Eigen::Index output_layer = 0;          ///< layers run, 1 to n
  std::vector<Eigen::Index> accepted_at;  ///< by sequence: its first accepted layer, 0 for never
  std::vector<RowVector> states;          ///< by sequence, after output_layer
};

/// `states`: the embedded token of each sequence.
BatchStep step_batch(const Decoder& decoder, const ExitRule& rule, std::vector<RowVector> states,
                     std::vector<Sequence>& batch);

/// Runs layers 1 to `layers` of one sequence, and fills the other layers' keys and values from the
/// result.
RowVector step_to(const Decoder& decoder, Eigen::Index layers, RowVector state, Sequence& sequence);

/// Hidden states of one token: after the embedding, then after each layer. Appends to all caches.
std::vector<RowVector> trajectory(const Decoder& decoder, RowVector state, Sequence& sequence);

/// Confidence after each layer of a trajectory.
std::vector<double> confidences(const Decoder& decoder, const ExitRule& rule,
                                const std::vector<RowVector>& states);

/// The first layer (from 1) whose confidence is above the threshold; 0 for none.
Eigen::Index first_accepted(const std::vector<double>& confidences, double threshold);

}  // namespace tiersim::numerics
