#pragma once
// What an iteration costs on one replica, from the same operations, plans and, where operations
// overlap, events as a single step (executor.hpp).
//
//   composed   operations run one after another: the sum of their times alone. Embedding and head,
//              the products of a layer by number of tokens, attention by batch and mean context,
//              and attention of pieces of prompts are evaluated once each and added up, so that an
//              iteration costs microseconds and is what the engine gives to 1 ps an operation.
//   executed   operations overlap (copies from a far tier, guessed queries): the engine runs the
//              iteration. Decode by batch and context is kept on a grid of contexts, 16 to the
//              octave, and taken linearly between.
//
// Which of the two holds is found by running both on samples when the cost is built. Either takes
// the mean context of a batch for each of its sequences (workloads/llm/iteration.hpp).
#include <cstdint>
#include <vector>

#include "sim/serving/demand_cache.hpp"
#include "sim/serving/serving_config.hpp"
#include "workloads/early_exit/exit_plan.hpp"
#include "workloads/llm/iteration.hpp"

namespace tiersim {

/// What a replica works on in one iteration.
struct IterationBatch {
  std::int64_t decodes = 0;    ///< sequences that get one more token
  std::int64_t positions = 0;  ///< of all of them together, the new ones included
  std::int64_t encoded = 0;    ///< encoder positions of all of them together
  std::vector<PromptChunk> chunks = {};
  std::int64_t logits = 0;  ///< rows that a token is chosen for
  /// With an encoder: prompts read whole, their positions together, and those that the decoder
  /// reads at once; nothing else then.
  std::int64_t encodes = 0;
  std::int64_t encode_positions = 0;
  std::int64_t encode_outputs = 0;
};

class IterationCost {
 public:
  /// Both outlive it. `system` is that of one replica.
  IterationCost(const ServingConfig& config, const System& system);

  /// The demand, valid until the next call.
  const Demand& of(const IterationBatch& batch);
  /// The same of decoding sequences that leave early as planned: always by one technique.
  const Demand& of(const IterationBatch& batch, const ExitPlan& exits, ExitTechnique technique);

  /// Whether operations overlap.
  bool executed() const { return executed_; }

 private:
  bool overlaps();
  Demand run(const StepGraph& graph) const;
  int kind_of(int layer) const;  // layers of one kind cost the same outside of their attention
  IterationWork whole(const IterationBatch& batch) const;

  const Demand& ends(std::int64_t tokens, std::int64_t logits);
  const Demand& layer(int kind, const IterationWork& work);
  const Demand& attention(std::int64_t decodes, std::int64_t context);
  const Demand& confidence(ExitTechnique technique, std::int64_t rows, int layer);
  const Demand& fill(const FillWork& work);
  const Demand& fill_beside(std::int64_t rows);
  const Demand& decode(std::int64_t decodes, std::int64_t context);
  void add_attention(std::int64_t decodes, std::int64_t positions, std::int64_t times);
  const Demand& compose(const IterationBatch& batch);
  const Demand& execute_whole(const IterationBatch& batch);
  const Demand& execute_exits(const IterationBatch& batch, const ExitPlan& exits,
                              ExitTechnique technique);
  const Demand& encode(const IterationBatch& batch);

  const System& system_;
  const Method& method_;
  AttentionContext replica_;
  AttentionContext device_;  // of a decode step
  AttentionPart decode_;     // the same, at the batch and context that are asked for
  std::int64_t moe_layers_ = 0;
  bool executed_ = false;
  Demand sum_;
  Demand between_;  // scratch
  Demand low_;      // likewise
  Demand uncached_;
  DemandCache ends_;
  DemandCache layers_;
  DemandCache attention_;  // composed: of one layer; executed: of an iteration, on the grid
  DemandCache encode_;
  DemandCache confidence_;
  DemandCache fill_;
  DemandCache fill_beside_;
  DemandCache exits_;  // executed, by depth, on the grid
};

}  // namespace tiersim
