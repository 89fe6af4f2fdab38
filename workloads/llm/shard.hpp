#pragma once
// One GPU's part of a replica's model, as a model of its own with fewer heads, a narrower latent,
// narrower MLPs and fewer layers. The same code then counts weights, cached widths and products for
// one GPU.
#include <string>
#include <vector>

#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

/// A way of sharing that the model does not allow, reported to the user.
struct ShardProblem {
  std::string key;  ///< of `parallel`
  std::string message;
  std::string hint;
};
/// Problems of this sharing; empty where every GPU gets an equal part. Either argument may be
/// incomplete after errors.
std::vector<ShardProblem> shard_problems(const LlmConfig& model, const ParallelConfig& parallel);

/// The GPU's part in the pipeline stage with the most weights: the first or the last, with the
/// larger number of layers. Every stage is assumed to be as slow, so the times of pipelines with
/// few layers a stage are upper bounds. Precondition: shard_problems() is empty.
LlmConfig shard_of(const LlmConfig& model, const ParallelConfig& parallel);

/// The experts of a layer with the GPUs over which they are spread, for `tokens` of all of them.
ExpertGroup expert_group(const MoeConfig& moe, const ParallelConfig& parallel, std::int64_t tokens);

}  // namespace tiersim
