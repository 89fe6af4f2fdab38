#pragma once
// The rules across the fields of a model: what needs what, and what cannot stand together.
#include "workloads/llm/llm_config.hpp"

namespace tiersim {

/// Reports every rule that the model breaks.
void check_combinations(Fields& f, const LlmConfig& c);

}  // namespace tiersim
