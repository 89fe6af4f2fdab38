#pragma once
// Attention-FFN disaggregation (AFD): the MLPs and experts of every layer are on GPUs of their own,
// which serve one or several groups of GPUs that attend (Step-3, arXiv 2507.19427; MegaScale-Infer,
// arXiv 2504.02263).
//
//   way of a token   attention -> send -> MLP or experts -> send back -> the next layer's attention
//   experts: split   each GPU that attends sends its tokens once, in equal parts to all FFN GPUs;
//   or a dense MLP   these gather all tokens, compute their part, and add the parts up
//   experts: spread  the GPU that attends runs the router, and sends a token to each of the GPUs
//                    that have one of its experts. Each of these adds up its own outputs, so that a
//                    row comes back from each. A GPU's shared experts read an equal part of all
//                    tokens, with the rows that it gets anyway
//   micro-batches    take turns on both kinds of GPUs ("ping-pong"), in an order that is fixed
//                    before the step (turns.hpp), so that one is under way while others compute
//
// Ignores: the addition of the rows that come back; that GPUs of one kind do not finish together.
#include <cstdint>

#include "workloads/llm/device_step.hpp"
#include "workloads/llm/layer_ops.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim {

/// The share of a model that FFN GPUs have, and how they have it.
struct FfnShare {
  LlmConfig model;          ///< the whole one
  ParallelConfig parallel;  ///< over the FFN GPUs; their tokens are their own (attention: data)
  std::int64_t groups = 1;  ///< of GPUs that attend, each with a batch of its own
  std::int64_t micro_batches = 1;
  TierId near = {};  ///< memory of an FFN GPU
};

/// The model without MLPs and experts. With ffn_weights() of one GPU it has all weights of `model`.
LlmConfig attention_part(const LlmConfig& model);

/// Weights of one FFN GPU, by part.
WeightParts ffn_weights(const FfnShare& share);
/// Weights of the routers, which are on the GPUs that attend where experts are spread; otherwise 0.
std::int64_t router_weights_beside_attention(const FfnShare& share);

/// Mean number of GPUs that have at least one expert of a token, where it chooses `top_k` different
/// ones of `experts`, all equally likely, and each of `ranks` GPUs has an equal part of them.
double gpus_of_token(std::int64_t experts, std::int64_t top_k, std::int64_t ranks);

/// Adds what an FFN GPU holds, and what a GPU that attends holds for it. `replica` is the step of
/// one group of GPUs that attend.
void add_ffn_tensors(StepGraph& graph, const AttentionContext& replica);

/// The MLPs of a micro-batch on the FFN GPUs.
class FfnChain {
 public:
  /// `step` is that of one GPU that attends, and must outlive this.
  FfnChain(const DeviceStep& step, StepGraph& graph);
  FfnChain(const FfnChain&) = delete;
  FfnChain& operator=(const FfnChain&) = delete;

  /// Adds the MLP of a layer, whose input `last` makes. Returns what brings its output back.
  OpId add_layer(int layer, OpId last);

 private:
  bool spreads(int layer) const;
  OpId compute(int layer, OpId sent);
  OpId exchange(int layer, GpuRole from, Bytes sent, Bytes received, OpId after);

  const DeviceStep& attending_;
  StepGraph& graph_;
  AttentionContext routing_;  // of a GPU that attends, with the whole model
  DeviceStep step_;           // of an FFN GPU
  LayerOpsBuilder router_;
  LayerOpsBuilder own_;    // of an equal part of all tokens
  LayerOpsBuilder group_;  // of all tokens
};

}  // namespace tiersim
