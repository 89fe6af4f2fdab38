#pragma once
// The operations of one batch, or one micro-batch of it, on one GPU, from embedding to head.
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "workloads/attention/layer_contexts.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/ffn_share.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {

/// Sequences whose attention is computed together, in an iteration with several such parts.
struct AttentionPart {
  AttentionContext context;  ///< of one GPU
  bool attends = true;       ///< false: only the products and collectives around the attention
  std::int64_t padding = 0;  ///< rows of a captured graph that no sequence uses
  std::vector<LayerOps> layers = {};  ///< of the layers so far

  /// Rows of the products around the attention.
  std::int64_t rows() const { return context.step.batch * context.new_positions() + padding; }
};

/// The attention of one layer over a part, after `projected` has made its queries, keys and values.
LayerOps add_part_attention(StepGraph& graph, const AttentionPart& part, const Method& method,
                            int layer, OpId projected);

class StepChain {
 public:
  /// `step` is the step of this micro-batch.
  StepChain(DeviceStep step, const Method& method, StepGraph& graph);
  /// A chain for an iteration whose sequences fall into several parts. All tokens share the
  /// products, except for parts that unpack a latent at different places. `step` is a decode step
  /// of as many sequences as there are new positions. No query is guessed, and nothing is handed
  /// over.
  StepChain(DeviceStep step, const Method& method, StepGraph& graph,
            std::vector<AttentionPart> parts);
  /// Adds the transfer of the activations to the next pipeline stage.
  OpId to_next_stage(OpId after);
  StepChain(const StepChain&) = delete;
  StepChain& operator=(const StepChain&) = delete;

  /// `after`: last operation of the previous micro-batch, where they run one after another.
  void begin(OpId after = OpId());
  /// `copy_after`: the copy that this layer's first copy waits for; set to the layer's last copy,
  /// if any.
  void add_layer(int layer, OpId& copy_after);
  void end();
  /// Weights are copied after those of the chain that runs before.
  void copy_weights_after(const StepChain& before) { brought_ = before.brought_; }
  /// Makes the next operation wait for this one, in place of begin().
  void resume_after(OpId last) { last_ = last; }
  std::int64_t layers() const { return c_.model.layers; }
  /// The operation that the next one waits for.
  OpId last() const { return last_; }

 private:
  bool prefill() const { return c_.step.kind == StepKind::prefill; }
  bool timed(Region smallest) const { return c_.step.region <= smallest; }
  PipelineStage stage() const;
  bool spread() const { return c_.parallel.sequences_are_spread(); }
  bool parts_tokens(int layer) const;
  OpId join_tokens(int layer, OpId last);
  Bytes hidden(std::int64_t tokens) const;

  OpIds bring_weights(int layer);
  void add_layer_ops(int layer, OpId& copy_after);
  OpId attend(int layer, OpId input, OpId& copy_after);
  OpId attend_parts(int layer, OpId input);
  OpId project(LayerOpsBuilder& ops, const AttentionContext& c, int layer, OpId input);
  OpId output(LayerOpsBuilder& ops, const AttentionContext& c, std::int64_t tokens, int layer,
              OpId attended);
  OpId mlp(int layer, OpId last);
  OpId experts_spread(int layer, OpId last);
  OpId guess(int layer, OpId input);
  OpId cross_attention(int layer, OpId last);
  OpId encode();
  void hand_over(int layer, OpId after);

  DeviceStep step_;
  const AttentionContext& c_;  // of step_
  LayerContexts contexts_;     // of c_
  const Method& method_;
  StepGraph& graph_;
  LayerOpsBuilder own_;               // of its own sequences' tokens
  LayerOpsBuilder part_;              // of its part of them, where several GPUs have the same
  LayerOpsBuilder group_;             // of the tensor group's tokens
  std::unique_ptr<FfnChain> ffn_;     // null where this GPU has the MLPs
  std::optional<double> hot_ = {};    // rows of the GPU with the most loaded experts over the mean
  std::vector<AttentionPart> parts_;  // empty where step_ is the only part
  OpId last_;                         // the next operation waits for it
  OpId guessed_;                      // queries of the next layer
  struct Brought {
    OpIds copies;  // the last ones, of each tier with far weights
    OpId freed;    // the end of the layer whose room the next copy takes
    OpId used;     // the end of the layer after that
  };
  Brought brought_;
  std::vector<LayerOps> layers_;
  std::vector<int> waiting_;  // layers whose cache is handed over at the end
};

/// Runs the layers of micro-batches in turns (turns.hpp). No chain has begun; all are of this
/// graph, which is taken from there.
StepGraph run_in_turns(StepGraph& graph, std::deque<StepChain>& chains);

/// Keys and values of the encoder's output for one decoder layer: made once, read by every step.
Bytes cross_rows(const AttentionContext& device);

}  // namespace tiersim
