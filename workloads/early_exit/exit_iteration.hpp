#pragma once
// One iteration of decoding sequences that exit early, as operations; the counterpart of
// build_iteration() for sequences that pass all layers. It is for methods whose operations overlap,
// where costs of parts cannot be added up. The next layer waits for the confidence after this one.
#include <string>
#include <vector>

#include "workloads/early_exit/exit_plan.hpp"
#include "workloads/llm/iteration.hpp"

namespace tiersim {

/// `work` has no pieces of prompts. Its sequences are those of the plan, and the rows of each layer
/// have their mean context. If the head runs, it runs for `work.logits` rows.
StepGraph build_exit_iteration(const AttentionContext& replica, const Method& method,
                               const IterationWork& work, const ExitPlan& exits,
                               ExitTechnique technique, std::vector<std::string> tier_names);

}  // namespace tiersim
