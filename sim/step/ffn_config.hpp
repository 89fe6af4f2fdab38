#pragma once
// GPUs of their own for the MLPs and experts of a step (`ffn:` of a scenario). How a token goes
// there and back: workloads/llm/ffn_share.hpp.
#include <cstdint>
#include <optional>
#include <string>

#include "sim/step/system_config.hpp"
#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

/// All GPUs of `system` together have the MLPs. Every group of GPUs that attend (parallel.tensor of
/// system.gpus.count) sends its tokens there.
struct FfnConfig {
  SystemConfig system = {};
  ExpertSharing experts = ExpertSharing::split;
  DenseSharing dense = DenseSharing::tensor;
  std::int64_t redundant_experts = 0;
  ExpertPlacement expert_placement = ExpertPlacement::contiguous;
  std::optional<DataType> dispatch_type = {};  ///< of the tokens that are sent; bf16 where absent
  std::int64_t micro_batches = 2;
  std::optional<std::string> near = {};  ///< tier of the weights; placement.near where absent

  /// How the GPUs share the MLPs; tokens are theirs by equal parts.
  ParallelConfig parallel() const;
};
void describe(Fields& f, FfnConfig& c);

}  // namespace tiersim
