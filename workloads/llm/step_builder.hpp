#pragma once
// One step of a transformer as a StepGraph, as one of the GPUs that share the model does it: its
// part (shard.hpp) and the collectives between. Decode: for each layer the projections, the
// method's attention, the output projection and the MLP (or experts), then the head. Prefill: the
// same over all positions, with exact attention; a model with an encoder runs it first and makes
// the keys and values of every cross attention. Norms, rotary embedding and residual adds are taken
// as fused into the products beside them: their bytes are in those products' activations.
//
// Overlap (StepConfig::overlap) is which operations wait for which; nothing else changes, but that
// micro-batches read the weights once each, and a guessed query is paid for by a product of its
// own.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// `context`: model and batch of the whole replica. Tiers are named by position: `tier_names`
/// becomes StepGraph::tier_names. All weights are near. StepGraph::tokens are those of the replica.
StepGraph build_step(const AttentionContext& context, const Method& method,
                     std::vector<std::string> tier_names);

/// The same graph with its tensors and no operations: what a capacity question needs.
StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                             std::vector<std::string> tier_names);

}  // namespace tiersim
