#pragma once
// The draft of a speculative step as a model of its own: its dimensions, its part in the footprint,
// and the passes in which it proposes tokens.
//
// A pass computes the cache rows of what was accepted since the last one and proposes one token for
// each sequence. The first pass of a step has more new positions than the others:
//
//   mtp, eagle  k + 1: all that the last verification saw, as their hidden states come from it
//               (engines do not wait to know how many of them count)
//   model       2: the newest token and, where all drafts were accepted, the last of them
//   early_exit  1: the verification computes the rows of the last draft
//
// and with a cache of its own the draft also reads the prompts that the iteration reads. Of a tree
// (draft_tree.hpp) k is its depth here, and a later pass has a position for each node with
// children.
#include <vector>

#include "workloads/attention/method.hpp"
#include "workloads/llm/speculation.hpp"

namespace tiersim {

struct DraftModel {
  LlmConfig model;           ///< as one pass runs it
  std::int64_t modules = 1;  ///< with weights and caches of their own, of which a pass runs one
  std::int64_t joined = 0;   ///< vectors of the model's width that an input projection joins
  bool own_embedding = false;
  bool own_head = false;
};
/// Precondition: speculation_problems() is empty, and the kind has a model (not ngram).
DraftModel draft_model(const DraftConfig& draft, const LlmConfig& target);

/// The draft's view of the target's replica, with the target's batch, context, method and sharing.
AttentionContext draft_context(const AttentionContext& target);

/// Weights and cache of the draft on one GPU. `target` has speculation and is of the whole replica.
void add_draft_tensors(StepGraph& graph, const AttentionContext& target, const Method& method);
/// Weights of the draft: all modules, with input projection and norms, on one GPU.
std::int64_t draft_weights(const AttentionContext& target);

struct DraftPass {
  std::int64_t positions = 1;  ///< new ones of each sequence
  std::int64_t ahead = 0;      ///< of its newest position beyond the sequence's
  std::int64_t logits = 1;     ///< positions after which tokens are proposed
  bool reads_prompts = false;
  TreeMask mask = {};  ///< of the nodes of a tree that branches
};
/// The passes of a step with `tokens` drafts, in order.
std::vector<DraftPass> draft_passes(const SpeculationConfig& speculation, std::int64_t tokens);

}  // namespace tiersim
