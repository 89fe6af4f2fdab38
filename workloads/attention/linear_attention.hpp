#pragma once
// The kernels of a layer with linear attention (LinearConfig): its convolution, then the update and
// the reading of its state. They belong to the model, whatever the KV method is; the state is in
// the near tier.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// State of one sequence in one layer: of all heads in `type`, and the inputs of the convolution in
/// bf16.
Bytes state_bytes(const LinearConfig& linear, StateType type);

/// Adds the kernels of one layer, for the new positions of a decode step or a prefill; `context`
/// has one GPU's part of the layers with linear attention. A decode step reads the state of every
/// sequence and writes it; with drafts it writes one for each of them, as engines do, since the
/// accepted one is known later. A prefill works on chunks of tokens (LinearConfig::chunk) and keeps
/// the state before each of them in bf16 between two kernels, as flash-linear-attention does; it
/// reads the state of a prompt that is continued, and writes that after the last token. Returns the
/// operation that produces the layer's output.
OpId add_linear_attention(StepGraph& graph, const AttentionContext& context, int layer, OpId after);

/// Returns the number of new tokens of all sequences, in a decode step or a prefill.
std::int64_t linear_tokens(const AttentionContext& context);

/// Adds the states of all sequences and layers; nothing without linear attention.
void add_states(StepGraph& graph, const AttentionContext& device);

}  // namespace tiersim
