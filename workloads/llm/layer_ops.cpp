#include "workloads/llm/layer_ops.hpp"

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

// Heads that each multiply with a block of their own are products of their own.
MatrixShape shape(const Product& p, std::int64_t rows) {
  const std::int64_t blocks = p.in * p.out / p.weights;
  return {.rows = rows, .columns = p.out / blocks, .depth = p.in / blocks, .count = blocks};
}

}  // namespace

OpId LayerOpsBuilder::add(Phase phase, int layer, const Work& work, std::int64_t tokens,
                          OpId after) {
  const TierId near = c_.placement.near;
  Op op{.phase = phase,
        .layer = layer,
        .family = KernelFamily::gemm,
        .arithmetic = arithmetic_of(c_.step.weight_type),
        .flops = Flops::from_base(2 * work.weights_per_token) * tokens,
        .matrix = work.matrix};
  add_access(op, near, Direction::read, TensorClass::weights,
             stored(work.weights, c_.step.weight_type));
  add_access(op, near, Direction::read, TensorClass::activations,
             stored(work.read, DataType::bf16));
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(work.written, DataType::bf16));
  op.after = {after};
  return graph_.add(std::move(op));
}

OpId LayerOpsBuilder::product(Phase phase, int layer, const Product& p, OpId after) {
  return add(phase, layer,
             {.weights = p.weights,
              .weights_per_token = p.weights,
              .read = tokens_ * p.in,
              .written = tokens_ * p.produced,
              .matrix = shape(p, tokens_)},
             tokens_, after);
}

OpId LayerOpsBuilder::products(Phase phase, int layer, const std::vector<Product>& chain,
                               OpId after) {
  for (const Product& p : chain) after = product(phase, layer, p, after);
  return after;
}

OpId LayerOpsBuilder::mlp(int layer, OpId after) {
  return c_.model.is_moe_layer(layer) ? experts(layer, after) : dense_mlp(layer, after);
}

OpId LayerOpsBuilder::dense_mlp(int layer, OpId after) {
  return products(Phase::mlp, layer, c_.model.mlp_products(c_.model.intermediate), after);
}

OpId LayerOpsBuilder::experts(int layer, OpId after) {
  const LlmConfig& m = c_.model;
  const MoeConfig& moe = *m.moe;
  const std::int64_t reached = expected_experts(moe, tokens_) + moe.shared_experts;
  const std::int64_t passes = moe.experts_per_token + moe.shared_experts;  // of each token
  // Every expert as if it had the mean of all.
  const std::int64_t rows = (tokens_ * passes + reached - 1) / reached;
  after = product(
      Phase::mlp, layer,
      {.in = m.hidden, .out = moe.experts, .produced = moe.experts, .weights = m.router_weights()},
      after);
  for (const Product& p : m.mlp_products(moe.expert_intermediate))
    after = add(Phase::mlp, layer,
                {.weights = reached * p.weights,
                 .weights_per_token = passes * p.weights,
                 .read = tokens_ * passes * p.in,
                 .written = tokens_ * passes * p.produced,
                 .matrix = {.rows = rows, .columns = p.out, .depth = p.in, .count = reached}},
                tokens_, after);
  return after;
}

OpId LayerOpsBuilder::embedding() {
  const Bytes row = stored(c_.model.hidden, c_.step.weight_type);
  const TierId near = c_.placement.near;
  Op op{.phase = Phase::embedding, .family = KernelFamily::elementwise, .flops = {}};
  add_access(op, near, Direction::read, {TensorClass::weights, row * tokens_, row});
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(tokens_ * c_.model.hidden, DataType::bf16));
  return graph_.add(std::move(op));
}

OpId LayerOpsBuilder::head(std::int64_t rows, OpId after) {
  const LlmConfig& m = c_.model;
  const std::int64_t weights = m.hidden * m.vocabulary;
  return add(Phase::head, -1,
             {.weights = weights,
              .weights_per_token = weights,
              .read = rows * m.hidden,
              .written = rows * m.vocabulary,
              .matrix = {.rows = rows, .columns = m.vocabulary, .depth = m.hidden}},
             rows, after);
}

}  // namespace tiersim
