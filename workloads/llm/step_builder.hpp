#pragma once
// One decode step of a decoder-only transformer as a StepGraph: for each layer the QKV projection,
// the method's attention, the output projection and the gated MLP, then the head; in that order,
// each after the one before (overlap: serial). Norms, rotary embedding and residual adds are taken
// as fused into the products beside them: their bytes are in those products' activations.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Tiers are named by position: `tier_names` becomes StepGraph::tier_names. All weights are near.
StepGraph build_step(const AttentionContext& context, const Method& method,
                            std::vector<std::string> tier_names);

/// The same graph with its tensors and no operations: what a capacity question needs.
StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                               std::vector<std::string> tier_names);

}  // namespace tiersim
