#pragma once
// One GPU's share of a replica's step: its part of the model, its sequences, and its tokens in the
// operations that the whole tensor group shares.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// A GPU's part of the model, with the kind of cache that the step requires.
LlmConfig device_model(const LlmConfig& model, const StepConfig& step,
                       const ParallelConfig& parallel);

/// One GPU's part of a step. `context` of all functions here is that of the whole replica.
struct DeviceStep {
  /// Model: the GPU's part; batch: sequences whose attention it computes, or of a decode step of
  /// context ranks whose products; context of a prefill that is cut over context ranks: its own
  /// positions of a prompt.
  AttentionContext context;
  /// Sequences of the tensor group, as seen by MLP, head and experts.
  std::int64_t group_batch = 0;
  std::int64_t vocabulary = 0;   ///< of the whole model
  std::int64_t handed_over = 0;  ///< elements that it sends for each position and layer; 0: none
  Bytes handed_state = {};       ///< of linear attention, that it sends for each sequence and layer
  Bytes handed_index = {};       ///< an index key, for each position and layer with an indexer
  /// Rows of the tensor group; empty: one for each sequence, or for each new position of a decode
  /// step.
  std::optional<std::int64_t> logits = {};

  /// Bytes that it sends for this many positions of a layer.
  Bytes handed_rows(std::int64_t positions) const;

  std::int64_t own_tokens() const { return context.step.batch * context.new_positions(); }
  /// Tokens whose MLP or experts it computes of those, or that it sends to them: GPUs that attend
  /// together have equal parts.
  std::int64_t mlp_tokens() const {
    const ParallelConfig& p = context.parallel;
    const std::int64_t gpus = p.sequences_are_spread() ? p.attention_gpus() : 1;
    return (own_tokens() + gpus - 1) / gpus;
  }
  std::int64_t group_tokens() const { return group_batch * context.new_positions(); }
  std::int64_t logit_rows() const { return logits.value_or(group_batch * (1 + context.drafted())); }
  /// Logit rows that its part of the vocabulary is computed for.
  std::int64_t head_rows() const {
    return context.parallel.gathers_dense() ? logit_rows() : own_logit_rows();
  }
  /// Logit rows of the sequences whose attention it computes.
  std::int64_t own_logit_rows() const {
    if (!logits) return context.step.batch * (1 + context.drafted());
    return context.parallel.sequences_are_spread() ? context.parallel.own_sequences(*logits)
                                                   : *logits;
  }
};
/// The GPU with the most work. Under attention: data, sequences are spread as evenly as possible.
DeviceStep device_step(const AttentionContext& context);

/// Sequences of each micro-batch, largest first: one batch, two halves, one for each stage of a
/// pipeline, or as many as FfnShare says; fewer where a GPU has fewer sequences.
std::vector<std::int64_t> micro_batches(const AttentionContext& context);

/// Ratio of the time of a step to that of one GPU's work on it, which adds the other stages of a
/// pipeline. A decode step starts again when the first micro-batch is back, after as many passes as
/// there are stages. A prefill ends when its last micro-batch has passed all stages.
double pipeline_stretch(const AttentionContext& context);

}  // namespace tiersim
