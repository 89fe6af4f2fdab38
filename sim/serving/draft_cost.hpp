#pragma once
// The cost of the draft's passes before an iteration that verifies their tokens, from the same
// operations as those of a speculative step (workloads/llm/speculative_step.hpp): the draft is a
// model of its own on the same GPUs. Where the draft states the CPU time to dispatch a pass, each
// pass takes the longer of the two, as the next one begins after both.
#include <vector>

#include "sim/serving/iteration_cost.hpp"
#include "workloads/llm/draft.hpp"

namespace tiersim {

class DraftCost {
 public:
  /// True where drafts come from passes on the GPUs.
  static bool has_passes(const AttentionContext& replica);

  /// `replica` has speculation with passes; all three must outlive this.
  DraftCost(const AttentionContext& replica, const Method& method, const System& system);

  /// Work of all passes before the iteration, which may be none. It is valid until the next call.
  const Demand& before(const IterationBatch& batch);

 private:
  const DraftConfig& draft_;
  const SpeculationConfig& speculation_;
  std::vector<std::vector<DraftPass>> passes_;  // by number of drafts, from 0
  IterationCost cost_;
  Demand sum_;
  Demand pass_;  // scratch
};

}  // namespace tiersim
