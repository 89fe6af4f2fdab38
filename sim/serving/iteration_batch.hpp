#pragma once
// The work of one iteration of a replica, and the way in which the CPU launches its kernels: as one
// captured graph, or each by itself.
#include "sim/serving/serving_config.hpp"
#include "workloads/llm/iteration.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

/// The work of a replica in one iteration.
struct IterationBatch {
  std::int64_t decodes = 0;    ///< sequences that get one more token
  std::int64_t positions = 0;  ///< positions of all these sequences, the new ones included
  std::int64_t drafts = 0;     ///< of each of them, beside its new position
  TreeMask mask = {};          ///< of these, in a draft's pass over a tree
  std::int64_t encoded = 0;    ///< encoder positions of all these sequences
  std::int64_t padding = 0;    ///< sequences of a captured graph that do not exist
  std::vector<PromptChunk> chunks = {};
  std::int64_t logits = 0;  ///< rows for which a token is chosen
  /// With an encoder: the number of whole prompts read, the sum of their positions, and the
  /// positions that the decoder reads at once. An iteration with encodes has no other work.
  std::int64_t encodes = 0;
  std::int64_t encode_positions = 0;
  std::int64_t encode_outputs = 0;

  /// With the mean context of the decoding sequences, rounded up, for each of them.
  IterationWork work() const;
};

/// The mean of `count` values that add up to `sum`, rounded up; 0 of none.
inline std::int64_t mean_rounded_up(std::int64_t sum, std::int64_t count) {
  return count == 0 ? 0 : (sum + count - 1) / count;
}

/// Without padding. `encoder`: the model has one.
IterationBatch batch_of(const Iteration& iteration, bool encoder);

/// How the CPU launches the kernels of an iteration.
struct Launching {
  bool graph = false;        ///< of a captured graph, or each kernel by itself
  std::int64_t padding = 0;  ///< rows of the graph that no sequence uses
  Duration each{};           ///< from the launch of one kernel to that of the next
};
Launching launching_of(const ServingConfig& config, const IterationBatch& batch);

}  // namespace tiersim
