#pragma once
// The operations of a transformer layer outside of attention: matrix products, experts, embedding.
#include <cstdint>
#include <optional>

#include "workloads/attention/method.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim {

/// Returns the law by which tokens choose experts (StepConfig::drawn_load), or null if every GPU
/// gets an equal share of the rows. The share is also equal if the step states no law and experts
/// have copies, because no law then says which experts were copied.
const ExpertLoadConfig* drawn_load(const AttentionContext& context);

/// Adds operations on `tokens` tokens to a graph. A product moves its weights once, and its inputs
/// and outputs of every token in bf16; it takes 2 * weights * tokens FLOPs. The context is that of
/// one GPU. `own_tokens` of the tokens pass the router and the shared experts of this GPU; by
/// default all.
class LayerOpsBuilder {
 public:
  LayerOpsBuilder(const AttentionContext& context, StepGraph& graph, std::int64_t tokens)
      : LayerOpsBuilder(context, graph, tokens, tokens) {}
  LayerOpsBuilder(const AttentionContext& context, StepGraph& graph, std::int64_t tokens,
                  std::int64_t own_tokens)
      : c_(context), graph_(graph), tokens_(tokens), own_tokens_(own_tokens) {}

  /// A product of an attention's projections. `after_norm`: its input is the output of a norm.
  OpId product(Phase phase, int layer, const Product& p, OpId after, bool after_norm = false);
  /// Adds products that run one after another, of which the first may follow a norm.
  OpId products(Phase phase, int layer, const std::vector<Product>& chain, OpId after,
                bool after_norm = false);
  /// Adds the layer's MLP, or its router and the experts that the tokens are expected to reach.
  /// Returns `after` where the layer has neither.
  OpId mlp(int layer, OpId after);
  /// The two parts of such a layer: the product that chooses experts, and these.
  OpId router(int layer, OpId after);
  OpId routed_experts(int layer, OpId after);
  /// A dense MLP, as in an encoder.
  OpId dense_mlp(int layer, OpId after);
  /// Adds a kernel that reads and writes this many elements of bf16 for each token.
  OpId elementwise(Phase phase, int layer, std::int64_t read, std::int64_t written, OpId after);
  /// Adds the kernel that splits the joint product before linear attention, or the gated norm
  /// after it. Returns `after` if the engine runs no such kernel.
  OpId linear_split(int layer, OpId after);
  OpId linear_norm(int layer, OpId after);
  /// Adds the norm of the residual stream, unless the engine runs it in another operation.
  /// Before it, sublayers with attention residuals mix what they read; of a model with
  /// hyper-connections it is part of their kernel, which always runs.
  OpId norm(Phase phase, int layer, OpId after);
  /// Adds the norms over queries and keys of models that have them, likewise.
  OpId query_norms(int layer, OpId after);
  /// Adds the norms over the latents of MLA, likewise.
  OpId latent_norms(int layer, OpId after);
  /// Adds the rotary embedding of queries and keys, unless another operation does it.
  OpId rotary(int layer, OpId after);
  /// Adds the choice of a token for this many rows of logits, likewise.
  OpId sampling(std::int64_t rows, std::int64_t vocabulary, OpId after);
  OpId embedding();
  /// Adds the logits of this many rows.
  OpId head(std::int64_t rows, OpId after);
  /// Adds an exchange of activations; none for a single rank. `size` is as in CollectiveWork.
  OpId collective(int layer, CollectiveKind kind, Bytes size, std::int64_t ranks, OpId after,
                  Fabric fabric = Fabric::tensor);
  OpId collective(int layer, const CollectiveWork& work, OpId after);

 private:
  struct Work {                      // of one product
    DataType type = DataType::fp16;  // of the weights
    Bytes weights = {};
    std::int64_t multiplied = 0;  // weights, each counted as often as it is multiplied
    std::int64_t read = 0;        // activation elements
    std::int64_t written = 0;
    MatrixShape matrix = {};
    ExpertsShape experts = {};
    KernelFamily family = KernelFamily::gemm;
    bool after_norm = false;
  };
  // The load of this GPU's routed experts, as a mean over layers.
  struct RoutedLoad {
    double reached = 0;  // experts with at least one token
    double rows = 0;     // pairs of a token and an expert
  };
  OpId add(Phase phase, int layer, const Work& work, OpId after);
  RoutedLoad routed_load() const;
  bool fuses_shared_experts() const;
  ExpertsShape experts_shape(std::int64_t reached, std::int64_t routed) const;
  OpId hyper_connection(Phase phase, int layer, OpId after);
  OpId mixture(Phase phase, int layer, OpId after);
  OpId product_of(WeightPart part, Phase phase, int layer, const Product& p, OpId after,
                  bool after_norm);
  Bytes stored_experts(std::int64_t routed, std::int64_t shared) const;
  DataType type_of(WeightPart part) const {
    return c_.step.weight_types.of(part, c_.step.weight_type);
  }
  ProductInput input_of(Phase phase, int layer, bool after_norm) const;
  /// True where an all-reduce made the stream that the norm in this place reads.
  bool follows_all_reduce(Phase phase, int layer) const;

  const AttentionContext& c_;
  StepGraph& graph_;
  std::int64_t tokens_;
  std::int64_t own_tokens_;
  std::optional<RoutedLoad> routed_ = {};  // the same in every layer
};

}  // namespace tiersim
