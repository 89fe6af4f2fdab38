#pragma once
// The operations of one batch, or one micro-batch of it, on one GPU, from embedding to head.
#include <vector>

#include "workloads/llm/device_step.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {

/// Sequences that pass a layer's attention together, in an iteration that has several such parts.
struct AttentionPart {
  AttentionContext context;  ///< of one GPU
  bool attends = true;       ///< false: only the products and collectives around the attention
  std::vector<LayerOps> layers = {};  ///< of the attention so far

  std::int64_t tokens() const { return context.step.batch * context.new_positions(); }
};

/// The attention of one layer over a part, once its queries, keys and values are there.
LayerOps add_part_attention(StepGraph& graph, const AttentionPart& part, const Method& method,
                            int layer, OpId projected);

class StepChain {
 public:
  /// `step` is of this micro-batch.
  StepChain(DeviceStep step, const Method& method, StepGraph& graph);
  /// The same of an iteration whose sequences fall into parts, each of a kind of its own: all their
  /// tokens share the products, but for those of parts that unpack a latent in different places.
  /// `step` is a decode step of as many sequences as there are new positions. No query is guessed,
  /// and there is one pipeline stage and no handover.
  StepChain(DeviceStep step, const Method& method, StepGraph& graph,
            std::vector<AttentionPart> parts);
  StepChain(const StepChain&) = delete;
  StepChain& operator=(const StepChain&) = delete;

  /// `after`: what the micro-batch before it ends with, where they run one after another.
  void begin(OpId after = OpId());
  /// `copy_after`: the copy before this layer's first; becomes the layer's last, if it has any.
  void add_layer(int layer, OpId& copy_after);
  void end();
  /// The operation that what comes next waits for.
  OpId last() const { return last_; }

 private:
  bool prefill() const { return c_.step.kind == StepKind::prefill; }
  bool timed(Region smallest) const { return c_.step.region <= smallest; }
  PipelineStage stage() const;
  OpId to_next_stage(OpId after);
  bool spread() const { return c_.parallel.sequences_are_spread(); }
  Bytes hidden(std::int64_t tokens) const;

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
  const Method& method_;
  StepGraph& graph_;
  LayerOpsBuilder own_;               // tokens of its own sequences
  LayerOpsBuilder group_;             // those of the tensor group
  std::vector<AttentionPart> parts_;  // none where step_ is the only one
  OpId last_;                         // what comes next waits for it
  OpId guessed_;                      // queries of the layer to come
  std::vector<LayerOps> layers_;
  std::vector<OpId> waiting_;  // layers whose cache is handed over at the end
};

/// Keys and values of the encoder's output, one decoder layer: made once, read by every step.
Bytes cross_rows(const AttentionContext& device);

}  // namespace tiersim
