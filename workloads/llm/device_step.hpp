#pragma once
// From the step of a whole replica to what one of its GPUs has and does: its part of the model, its
// sequences, and the tokens that it meets in the parts that all of the tensor group share.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// A GPU's part of the model, with the cache that the step asks for.
LlmConfig device_model(const LlmConfig& model, const StepConfig& step,
                       const ParallelConfig& parallel);

/// What one GPU does of a step. `context` of all functions here is of the whole replica.
struct DeviceStep {
  AttentionContext context;      ///< model: its part; batch: sequences whose attention it does
  std::int64_t group_batch = 0;  ///< sequences of the tensor group: what MLP, head and experts meet
  std::int64_t vocabulary = 0;   ///< of the whole model
  std::int64_t handed_over = 0;  ///< elements of a position and layer that it sends; 0: none
  std::optional<std::int64_t> logits = {};  ///< rows of the tensor group; one a sequence if none

  std::int64_t own_tokens() const { return context.step.batch * context.new_positions(); }
  std::int64_t group_tokens() const { return group_batch * context.new_positions(); }
  std::int64_t logit_rows() const { return logits.value_or(group_batch); }
  /// Of the sequences whose attention it does.
  std::int64_t own_logit_rows() const {
    if (!logits) return context.step.batch;
    const std::int64_t gpus = context.parallel.sequences_are_spread() ? context.parallel.tensor : 1;
    return (*logits + gpus - 1) / gpus;
  }
};
/// The GPU with most to do. Under attention: data, sequences are spread as evenly as they can be.
DeviceStep device_step(const AttentionContext& context);

/// Sequences of each micro-batch, most first: one batch, two halves, or one for each stage of a
/// pipeline; fewer where a GPU has fewer sequences.
std::vector<std::int64_t> micro_batches(const AttentionContext& context);

/// Time of a step over that of one GPU's work on it: what passes before and after it in the other
/// stages of a pipeline. A decode step starts again when the first micro-batch is back, which is
/// after as many passes as there are stages; a prefill ends when its last one has passed all.
double pipeline_stretch(const AttentionContext& context);

}  // namespace tiersim
