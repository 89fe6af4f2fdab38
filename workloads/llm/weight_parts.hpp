#pragma once
// The weights of a model by purpose. Together with one GPU's part (shard.hpp) they show which
// weights are replicated and which are split. All counts are weights, never bytes.
#include <array>
#include <cstdint>
#include <string_view>

#include "workloads/llm/execution_config.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

inline constexpr std::array<std::string_view, 18> kWeightPartNames{"q_a",
                                                                   "q_b",
                                                                   "q",
                                                                   "kv_a",
                                                                   "kv_b",
                                                                   "kv",
                                                                   "o",
                                                                   "cross_attention",
                                                                   "linear_attention",
                                                                   "indexer",
                                                                   "mlp",
                                                                   "router",
                                                                   "experts",
                                                                   "shared_experts",
                                                                   "encoder",
                                                                   "embedding",
                                                                   "head",
                                                                   "other"};

/// Weights by WeightPart; their sum is LlmConfig::parameters().
using WeightParts = std::array<std::int64_t, kWeightPartNames.size()>;
WeightParts weight_parts(const LlmConfig& model);
/// Those of one layer.
WeightParts layer_weight_parts(const LlmConfig& model, std::int64_t layer);

/// Bytes of one part, or of all weights, where parts may have types of their own.
Bytes stored_part(WeightPart part, std::int64_t weights, const StepConfig& step,
                  const ExecutionConfig& execution);
Bytes stored_weights(const LlmConfig& model, const StepConfig& step,
                     const ExecutionConfig& execution);

}  // namespace tiersim
