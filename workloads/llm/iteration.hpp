#pragma once
// One iteration of continuous batching as operations: sequences that decode, and pieces of prompts,
// in one pass over the weights. One GPU's part, as of a step (step_builder.hpp).
//
// Sequences of different length decode as if all had their mean: what a method reads is linear in
// the context but for whole pages, tiles and rounded shares. `context` is that mean, a whole
// number; whoever wants a fraction takes two of them.
#include <vector>

#include "workloads/llm/step_chain.hpp"

namespace tiersim {

/// What a replica works on.
struct IterationWork {
  std::int64_t decodes = 0;              ///< sequences that get one more position
  std::int64_t context = 1;              ///< positions of each of them, the new one included
  std::vector<PromptChunk> chunks = {};  ///< pieces of prompts
  std::int64_t logits = 0;               ///< rows that a token is chosen for
  std::int64_t encoder_context = 0;      ///< of decoding sequences, where there is an encoder

  friend bool operator==(const IterationWork&, const IterationWork&) = default;
};

/// Its parts on the GPU that has most to do. `replica`: the model as a whole; its step says types
/// and forms only. Not for prompts of models with an encoder: build_step() has those.
std::vector<AttentionPart> iteration_parts(const AttentionContext& replica,
                                           const IterationWork& work);
/// What that GPU does of it outside of the attention.
DeviceStep iteration_step(const AttentionContext& replica, const IterationWork& work);

/// The whole iteration: embedding, all layers, head.
StepGraph build_iteration(const AttentionContext& replica, const Method& method,
                          const IterationWork& work, std::vector<std::string> tier_names);
/// Of it: embedding and head; one layer without its attention; one layer's attention of one part.
StepGraph build_iteration_ends(const AttentionContext& replica, const Method& method,
                               const IterationWork& work, std::vector<std::string> tier_names);
StepGraph build_iteration_layer(const AttentionContext& replica, const Method& method,
                                const IterationWork& work, int layer,
                                std::vector<std::string> tier_names);
StepGraph build_part_attention(const AttentionPart& part, const Method& method, int layer,
                               std::vector<std::string> tier_names);

}  // namespace tiersim
