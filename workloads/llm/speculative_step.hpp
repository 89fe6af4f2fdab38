#pragma once
// A speculative step as operations: the passes of the draft, then the iteration of the model that
// verifies them. Everything runs one after another.
#include <vector>

#include "workloads/llm/draft.hpp"
#include "workloads/llm/iteration.hpp"

namespace tiersim {

/// Drafts of each sequence in a decode step of this replica; 0 without speculation.
std::int64_t drafts_of_step(const AttentionContext& replica);

/// The works of the draft before an iteration that verifies `work.drafts` of each decoding
/// sequence. A draft with a cache of its own reads the prompts too, also where nothing decodes and
/// `work.drafts` says how many the sequences will have.
std::vector<IterationWork> draft_works(const SpeculationConfig& speculation,
                                       const IterationWork& work);

/// The end of drafting: the last operation of the GPU, and of the CPU that dispatched its passes;
/// either may be none.
struct Drafted {
  OpId last;
  OpId dispatched;
};
/// Adds them after an operation, which may be none.
Drafted add_drafting(StepGraph& graph, const AttentionContext& replica, const Method& method,
                     const IterationWork& work, OpId after);

/// Adds a decode step with `drafts` of each sequence; StepGraph::drafting counts the draft's
/// operations.
void add_speculative_step(StepGraph& graph, const AttentionContext& replica, const Method& method,
                          std::int64_t drafts);

/// An iteration with the passes of its draft.
StepGraph build_drafted_iteration(const AttentionContext& replica, const Method& method,
                                  const IterationWork& work, std::vector<std::string> tier_names);

}  // namespace tiersim
