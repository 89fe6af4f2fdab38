#pragma once
// The cost of an iteration on one replica, from the same operations and plans as a single step, and
// from its events if operations overlap (executor.hpp). A pipeline stage has its own layers. The
// first stage also has the embedding, and the last one the head. If operations overlap, a stage
// takes the share of the whole time that its layers are of all layers.
//
//   composed   operations run one after another: the sum of their times alone. Embedding and
//              products of a layer by number of tokens, head by number of chosen tokens, attention
//              by batch and mean context, and that of up to two pieces of prompts are each
//              evaluated once and added up, so that most iterations cost a few sums. It equals the
//              engine's result to 3 ps an operation and a millionth.
//   executed   operations overlap (copies from a far tier, guessed queries): the engine runs the
//              iteration. Decode by batch and context is stored on a grid of contexts, 16 to the
//              octave, with linear interpolation in between.
//
// Under speculation the passes of the draft are those of a model of its own (draft_cost.hpp), and
// come before.
//
// Both ways are run on samples when the cost is built, and their difference decides. Either way
// takes the mean context of a batch for each of its sequences (workloads/llm/iteration.hpp).
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/serving/demand_cache.hpp"
#include "sim/serving/iteration_batch.hpp"
#include "workloads/early_exit/exit_plan.hpp"
#include "workloads/llm/iteration.hpp"

namespace tiersim {

class DraftCost;

class IterationCost {
 public:
  /// Both must outlive this. `system` is that of one stage of a replica.
  IterationCost(const ServingConfig& config, const System& system);
  /// The cost of a model by itself, such as a draft.
  IterationCost(const AttentionContext& replica, const Method& method, const System& system);
  ~IterationCost();

  /// The demand of all stages together, without the transfers between them. It is valid until the
  /// next call.
  const Demand& of(const IterationBatch& batch);
  /// That of one stage of a pipeline, from 0, with the transfer to the next one.
  const Demand& of_stage(const IterationBatch& batch, std::int64_t stage);
  /// The same for sequences that exit early as planned; all use one technique.
  const Demand& of(const IterationBatch& batch, const ExitPlan& exits, ExitTechnique technique);

  /// True where operations overlap.
  bool executed() const { return executed_; }

 private:
  // Keyed by tokens of an iteration, of which there are as many as max_batched_tokens.
  static constexpr unsigned kByTokens = 14;
  /// Layers that are alike in one respect: how many there are before each layer, and the first one.
  struct Alike {
    std::vector<std::int64_t> before = {0};
    std::int64_t first = 0;

    Alike(std::int64_t layers, const std::function<bool(std::int64_t)>& is_one);
    std::int64_t between(std::int64_t from, std::int64_t to) const {
      return before[static_cast<std::size_t>(to)] - before[static_cast<std::size_t>(from)];
    }
  };
  /// The layers that attend in one way.
  struct OfType {
    std::int64_t index = 0;
    std::int64_t chunk = 0;  ///< positions that attend to each other only; 0: all
    bool positions = true;   ///< false where the number of positions makes no difference
    Alike layers;
    DemandCache prompts{kByTokens};  ///< one or two pieces
  };

  /// The layers with the same products around their attention, and after it.
  struct OfProducts {
    std::int64_t index = 0;
    Alike layers;
  };

  void group_layers();
  bool overlaps();
  Demand run(const StepGraph& graph) const;
  std::int64_t layers() const { return replica_.model.layers; }
  std::int64_t first_layer(std::int64_t stage) const;
  void add_layers(const IterationBatch& batch, std::int64_t from, std::int64_t to);

  std::int64_t rows(const IterationWork& work) const;
  const Demand& begin(std::int64_t tokens);
  const Demand& end(std::int64_t logits);
  void add_ends(std::int64_t tokens, std::int64_t logits);
  const Demand& layer(const OfProducts& products, const IterationWork& work);
  void add_products(const IterationWork& work, std::int64_t from, std::int64_t to);
  const Demand& attention(const OfType& type, const IterationBatch& of, std::int64_t context);
  const Demand& confidence(ExitTechnique technique, std::int64_t rows, int layer);
  const Demand& fill(const FillWork& work);
  const Demand& fill_beside(std::int64_t rows);
  const Demand& decode(const IterationBatch& of, std::int64_t context);
  /// Decodes, positions and drafts of the batch.
  void add_attention(const OfType& type, const IterationBatch& of, std::int64_t times);
  void add_prompts(OfType& type, const std::vector<PromptChunk>& chunks, std::int64_t times);
  const Demand& compose(const IterationBatch& batch);
  const Demand& compose_stage(const IterationBatch& batch, std::int64_t stage);
  const Demand& transfer(const IterationWork& work);
  const Demand& execute_whole(const IterationBatch& batch);
  const Demand& execute_exits(const IterationBatch& batch, const ExitPlan& exits,
                              ExitTechnique technique);
  const Demand& encode(const IterationBatch& batch);

  const System& system_;
  const Method& method_;
  AttentionContext replica_;
  AttentionContext device_;  // for a decode step
  AttentionPart decode_;     // the same, at the batch and context in question
  std::int64_t stages_ = 1;
  std::vector<OfProducts> products_;  // each layer is of one of these
  std::vector<OfType> types_;         // likewise, but for layers that do not attend
  bool executed_ = false;
  std::unique_ptr<DraftCost> draft_;  // none without passes of a draft
  Demand sum_;
  Demand between_;  // scratch
  Demand low_;      // likewise
  Demand uncached_;
  DemandCache begin_{kByTokens};
  DemandCache end_;
  DemandCache transfer_;
  DemandCache layers_{kByTokens};
  DemandCache attention_{15};  // composed: for one layer; executed: for an iteration, on the grid
  DemandCache pieces_;         // executed: of one prompt, alone in an iteration
  DemandCache encode_;
  DemandCache confidence_;
  DemandCache fill_;
  DemandCache fill_beside_;
  DemandCache exits_;  // executed, by depth, on the grid
};

}  // namespace tiersim
