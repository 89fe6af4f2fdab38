#pragma once
// One step of a transformer as a StepGraph, from the view of one of the GPUs that share the model:
// its part (shard.hpp) and the collectives between parts. Decode: for each layer the projections,
// the method's attention, the output projection and the MLP (or experts), then the head. Prefill:
// the same over all positions, with exact attention; a model with an encoder runs it first and
// makes the keys and values of every cross attention. Norms, rotary embedding and residual adds
// count as fused into the neighbouring products, whose activations include their bytes.
//
// Overlap (StepConfig::overlap) changes only the order between operations, with two exceptions:
// each micro-batch reads the weights once, and a guessed query takes a product of its own.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// `context` has the model and batch of the whole replica. Tiers are named by position:
/// `tier_names` becomes StepGraph::tier_names. All weights are near. StepGraph::tokens counts the
/// whole replica. `room`: operations of an earlier step, whose memory this one may use.
StepGraph build_step(const AttentionContext& context, const Method& method,
                     std::vector<std::string> tier_names, std::vector<Op> room = {});

/// The same graph with tensors and no operations, as a capacity search needs it.
StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                             std::vector<std::string> tier_names);

}  // namespace tiersim
