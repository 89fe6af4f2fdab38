#pragma once
// What of a model one GPU of a replica has: a model of its own with fewer heads, a narrower latent,
// narrower MLPs, fewer layers. All that is counted of a model (weights, cached widths, products)
// then counts for one GPU by the same code.
#include <string>
#include <vector>

#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

/// A way to share that the model does not allow, for the user to mend.
struct ShardProblem {
  std::string key;  ///< of `parallel`
  std::string message;
  std::string hint;
};
/// Empty where every GPU gets an equal part. Parts of either may be half read.
std::vector<ShardProblem> shard_problems(const LlmConfig& model, const ParallelConfig& parallel);

/// The GPU's part, of the pipeline stage that has most weights: the first or the last, with the
/// larger number of layers. Every stage is taken to be as slow, so that a pipeline's times are
/// upper bounds where stages are few layers each. shard_problems() is empty.
LlmConfig shard_of(const LlmConfig& model, const ParallelConfig& parallel);

}  // namespace tiersim
