#pragma once
// One iteration of continuous batching as operations: decoding sequences and pieces of prompts in
// one pass over the weights. It is one GPU's part, as for a step (step_builder.hpp).
//
// Sequences of different lengths decode as if all had the mean length, since reads of a method are
// linear in the context except for whole pages, tiles and rounded shares. Beyond the first chunk of
// chunked attention they are not: the chunk of the mean length then stands for those of all.
// `context` is that mean as a whole number; a fractional mean takes two iterations.
#include <vector>

#include "workloads/llm/step_chain.hpp"

namespace tiersim {

/// Work of a replica.
struct IterationWork {
  std::int64_t decodes = 0;  ///< sequences that each grow by one position
  std::int64_t context = 1;  ///< positions of each decoding sequence, the new one included
  /// Sequences of a captured graph that do not exist: products compute their rows, attention does
  /// not.
  std::int64_t padding = 0;
  std::vector<PromptChunk> chunks = {};  ///< pieces of prompts
  std::int64_t logits = 0;               ///< rows whose next token is chosen
  std::int64_t encoder_context = 0;      ///< of decoding sequences, for models with an encoder
  /// Drafts of each decoding sequence, whose positions follow its new one (speculative_step.hpp).
  std::int64_t drafts = 0;
  /// Mask of a draft's pass over a tree. A verification's follows from the replica's speculation.
  TreeMask mask = {};

  std::int64_t prompt_tokens() const;  ///< of all chunks
  /// Rows of the products around the attention.
  std::int64_t rows() const { return (decodes + padding) * (1 + drafts) + prompt_tokens(); }
  /// The same of the context rank with the most work, which has its own part of the sequences and
  /// of each piece of a prompt.
  std::int64_t rows_of_rank(const ParallelConfig& parallel) const;

  friend bool operator==(const IterationWork&, const IterationWork&) = default;
};

/// Attention parts of the iteration on the GPU with the most work. `replica` is the whole model;
/// its step gives types and forms only. Prompts of models with an encoder are not supported here;
/// see build_step().
std::vector<AttentionPart> iteration_parts(const AttentionContext& replica,
                                           const IterationWork& work);
/// Work of that GPU outside of the attention.
DeviceStep iteration_step(const AttentionContext& replica, const IterationWork& work);

/// The work of each micro-batch, where other GPUs have the MLPs: equal parts of the decoding
/// sequences of every GPU, and whole pieces of prompts. One where the replica has no FfnShare.
std::vector<IterationWork> micro_works(const AttentionContext& replica, const IterationWork& work);

/// Layers of the model that have drafted, in an iteration that verifies their drafts; else 0.
std::int64_t drafted_layers(const AttentionContext& replica, const IterationWork& work);
/// The work of these layers in that iteration: each sequence's last draft, and the prompts.
IterationWork last_draft(IterationWork work);
/// Adds the whole iteration after an operation, which may be none: embedding, all layers, head.
/// Where the first layers have drafted, decoding sequences pass them with their last draft alone.
/// Returns the last operation.
OpId add_iteration(StepGraph& graph, const AttentionContext& replica, const Method& method,
                   const IterationWork& work, OpId after);
/// The same as a graph; micro-batches take turns where other GPUs have the MLPs.
StepGraph build_iteration(const AttentionContext& replica, const Method& method,
                          const IterationWork& work, std::vector<std::string> tier_names);
/// Parts of build_iteration(): the embedding, which sees every token; the head, which sees only the
/// rows whose token is chosen; one layer without its attention; one layer's attention of one part.
StepGraph build_iteration_begin(const AttentionContext& replica, const Method& method,
                                const IterationWork& work, std::vector<std::string> tier_names);
StepGraph build_iteration_end(const AttentionContext& replica, const Method& method,
                              const IterationWork& work, std::vector<std::string> tier_names);
/// The activations of an iteration on their way to the next stage of a pipeline.
StepGraph build_stage_transfer(const AttentionContext& replica, const Method& method,
                               const IterationWork& work, std::vector<std::string> tier_names);
StepGraph build_iteration_layer(const AttentionContext& replica, const Method& method,
                                const IterationWork& work, int layer,
                                std::vector<std::string> tier_names);
StepGraph build_part_attention(const AttentionPart& part, const Method& method, int layer,
                               std::vector<std::string> tier_names);

}  // namespace tiersim
