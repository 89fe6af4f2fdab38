#pragma once
// One iteration of decoding sequences that leave early, as operations: what build_iteration() is
// for sequences that pass all layers. For methods whose operations overlap, so that costs of parts
// cannot be added up; the next layer waits for the confidence after this one.
#include <string>
#include <vector>

#include "workloads/early_exit/exit_plan.hpp"
#include "workloads/llm/iteration.hpp"

namespace tiersim {

/// `work` has no pieces of prompts; its sequences are those of the plan, and each of its layers'
/// rows has their mean context. The head runs for `work.logits` rows, where it runs.
StepGraph build_exit_iteration(const AttentionContext& replica, const Method& method,
                               const IterationWork& work, const ExitPlan& exits,
                               ExitTechnique technique, std::vector<std::string> tier_names);

}  // namespace tiersim
