#include "workloads/llm/step_builder.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class Builder {
 public:
  Builder(const AttentionContext& context, StepGraph& graph) : c_(context), graph_(graph) {}

  Bytes activations(std::int64_t width) const {
    return stored(c_.step.batch * width, DataType::bf16);
  }

  /// A matrix product of the batch with in * out weights. `produced` is the width of what it
  /// writes, where a fused epilogue (the gate of the MLP) writes less than out.
  OpId product(Phase phase, int layer, std::int64_t in, std::int64_t out, std::int64_t produced,
               std::vector<OpId> after) {
    const Bytes weights = stored(in * out, c_.step.weight_type);
    const TierId near = c_.placement.near;
    Op op{.phase = phase,
          .layer = layer,
          .family = KernelFamily::gemm,
          .flops = Flops::from_base(2 * in * out) * c_.step.batch};
    op.accesses = {
        {near, Direction::read, TensorClass::weights, weights, weights},
        {near, Direction::read, TensorClass::activations, activations(in), activations(in)},
        {near, Direction::write, TensorClass::activations, activations(produced),
         activations(produced)}};
    op.after = std::move(after);
    return graph_.add(std::move(op));
  }

  OpId embedding() {
    const Bytes row = stored(c_.model.hidden, c_.step.weight_type);
    const TierId near = c_.placement.near;
    Op op{.phase = Phase::embedding, .family = KernelFamily::elementwise, .flops = {}};
    op.accesses = {{near, Direction::read, TensorClass::weights, row * c_.step.batch, row},
                   {near, Direction::write, TensorClass::activations, activations(c_.model.hidden),
                    activations(c_.model.hidden)}};
    return graph_.add(std::move(op));
  }

  OpId layer(int index, const Method& method, OpId input) {
    const LlmConfig& m = c_.model;
    const std::int64_t qkv = m.query_width() + 2 * m.kv_width();
    const OpId projected = product(Phase::projection, index, m.hidden, qkv, qkv, {input});
    const OpId attended = method.add_layer(c_, index, projected, graph_);
    const OpId output =
        product(Phase::projection, index, m.query_width(), m.hidden, m.hidden, {attended});
    const OpId gated =
        product(Phase::mlp, index, m.hidden, 2 * m.intermediate, m.intermediate, {output});
    return product(Phase::mlp, index, m.intermediate, m.hidden, m.hidden, {gated});
  }

 private:
  const AttentionContext& c_;
  StepGraph& graph_;
};

}  // namespace

StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                               std::vector<std::string> tier_names) {
  const LlmConfig& m = context.model;
  const TierId near = context.placement.near;
  StepGraph graph;
  graph.tier_names = std::move(tier_names);
  graph.tokens = context.step.batch;
  add_tensor(graph, TensorClass::weights, near, stored(m.parameters(), context.step.weight_type));
  // Peak: residual stream and the widest product's input and output, the head's logits included.
  const std::int64_t widest =
      std::max({m.query_width() + 2 * m.kv_width(), m.intermediate + m.hidden, m.vocabulary});
  add_tensor(graph, TensorClass::activations, near,
             stored(context.step.batch * (2 * m.hidden + widest), DataType::bf16));
  method.add_tensors(context, graph);
  return graph;
}

StepGraph build_step(const AttentionContext& context, const Method& method,
                            std::vector<std::string> tier_names) {
  const LlmConfig& m = context.model;
  StepGraph graph = build_step_tensors(context, method, std::move(tier_names));
  Builder builder(context, graph);
  OpId last = builder.embedding();
  for (int layer = 0; layer < m.layers; ++layer) last = builder.layer(layer, method, last);
  builder.product(Phase::head, -1, m.hidden, m.vocabulary, m.vocabulary, {last});
  return graph;
}

}  // namespace tiersim
