#pragma once
// The operations of a transformer layer outside its attention: matrix products, experts, embedding.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Adds operations that work on `tokens` tokens to a graph. Bytes of a product: its weights once,
/// what it reads and writes of every token in bf16. FLOPs: 2 * weights * tokens. The context is of
/// one GPU; `own_tokens` of the tokens pass its router and its shared experts, all where it is left
/// out.
class LayerOpsBuilder {
 public:
  LayerOpsBuilder(const AttentionContext& context, StepGraph& graph, std::int64_t tokens)
      : LayerOpsBuilder(context, graph, tokens, tokens) {}
  LayerOpsBuilder(const AttentionContext& context, StepGraph& graph, std::int64_t tokens,
                  std::int64_t own_tokens)
      : c_(context), graph_(graph), tokens_(tokens), own_tokens_(own_tokens) {}

  OpId product(Phase phase, int layer, const Product& p, OpId after);
  /// One after the other.
  OpId products(Phase phase, int layer, const std::vector<Product>& chain, OpId after);
  /// The layer's MLP, or its router and the experts that the tokens are expected to reach; `after`
  /// where the layer has none.
  OpId mlp(int layer, OpId after);
  /// A dense MLP, as in an encoder.
  OpId dense_mlp(int layer, OpId after);
  OpId embedding();
  /// Logits of so many rows.
  OpId head(std::int64_t rows, OpId after);
  /// An exchange of activations; nothing between one rank and itself. `size` as CollectiveWork.
  OpId collective(int layer, CollectiveKind kind, Bytes size, std::int64_t ranks, OpId after,
                  Fabric fabric = Fabric::tensor);

 private:
  struct Work {  // of one product
    std::int64_t weights = 0;
    std::int64_t multiplied = 0;  // weights, each as often as it is multiplied with
    std::int64_t read = 0;        // activation elements
    std::int64_t written = 0;
    MatrixShape matrix = {};
  };
  OpId add(Phase phase, int layer, const Work& work, OpId after);
  OpId experts(int layer, OpId after);

  const AttentionContext& c_;
  StepGraph& graph_;
  std::int64_t tokens_;
  std::int64_t own_tokens_;
};

}  // namespace tiersim
