#include "workloads/llm/step_builder.hpp"

#include <algorithm>
#include <deque>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/prefill.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

bool cross_attends(const AttentionContext& c) {
  return c.model.encoder.has_value();
}

// Keys and values of the encoder's output, one decoder layer: made once, read by every step.
Bytes cross_rows(const AttentionContext& c) {
  return stored(c.model.kv_width(), c.step.kv_type) * (c.step.batch * c.step.encoder_context);
}

// What makes the queries alone. Under MLA that is all of the projections but the cached latent, the
// last but one.
std::vector<Product> query_products(const LlmConfig& m) {
  if (!m.mla)
    return {{.in = m.hidden,
             .out = m.query_width(),
             .produced = m.query_width(),
             .weights = m.hidden * m.query_width()}};
  std::vector<Product> products = m.projections_in();
  products.erase(products.end() - 2);
  return products;
}

// One batch, or one micro-batch of it, from embedding to head.
class Chain {
 public:
  Chain(AttentionContext context, const Method& method, StepGraph& graph)
      : c_(std::move(context)),
        method_(method),
        graph_(graph),
        ops_(c_, graph, c_.step.batch * c_.new_positions()) {}

  void begin() {
    const OpId encoded = cross_attends(c_) && prefill() ? encode() : OpId();
    last_ = ops_.embedding();
    if (encoded.valid()) graph_.ops[last_.index()].after = {encoded};
  }
  /// `copy_after`: the copy before this layer's first; becomes the layer's last, if it has any.
  void add_layer(int layer, OpId& copy_after) { last_ = add_layer(layer, last_, copy_after); }
  void end() { ops_.head(c_.step.batch, last_); }

 private:
  bool prefill() const { return c_.step.kind == StepKind::prefill; }

  OpId add_layer(int layer, OpId input, OpId& copy_after) {
    const LlmConfig& m = c_.model;
    const OpId projected = ops_.products(Phase::projection, layer, m.projections_in(), input);
    const LayerInputs in{.layer = layer,
                         .projected = projected,
                         .screen_after = guessed_.valid() ? guessed_ : projected,
                         .before = layers_,
                         .copy_after = c_.step.overlap == Overlap::serial ? OpId() : copy_after};
    const LayerOps done =
        prefill() ? method_.add_prefill_layer(c_, in, graph_) : method_.add_layer(c_, in, graph_);
    layers_.push_back(done);
    if (done.fetched.valid()) copy_after = done.fetched;
    guessed_ = guess(layer + 1, input);
    OpId last = ops_.products(Phase::projection, layer, m.projections_out(), done.attended);
    if (cross_attends(c_)) last = cross_attention(layer, last);
    return ops_.mlp(layer, last);
  }

  // The next layer's queries, from this layer's input: the residual stream changes little from
  // layer to layer (InfiniGen, arXiv 2406.19707).
  OpId guess(int layer, OpId input) {
    if (c_.step.overlap != Overlap::prefetch_screening || prefill() || layer >= c_.model.layers)
      return OpId();
    return ops_.products(Phase::screening, layer, query_products(c_.model), input);
  }

  OpId cross_attention(int layer, OpId last) {
    last = ops_.products(Phase::projection, layer, c_.model.cross_projections_in(), last);
    last = add_full_attention(graph_, c_, layer, c_.new_positions(), c_.step.encoder_context,
                              TensorClass::cross_rows, {last});
    return ops_.products(Phase::projection, layer, c_.model.cross_projections_out(), last);
  }

  // The encoder over its whole input, then keys and values for every cross attention.
  OpId encode() {
    const LlmConfig& m = c_.model;
    const std::int64_t positions = c_.step.encoder_context;
    LayerOpsBuilder ops(c_, graph_, c_.step.batch * positions);
    OpId last = ops.embedding();
    for (int layer = 0; layer < m.encoder->layers; ++layer) {
      last = ops.products(Phase::projection, layer, m.projections_in(), last);
      last = add_full_attention(graph_, c_, layer, positions, positions, TensorClass::activations,
                                {last});
      last = ops.products(Phase::projection, layer, m.projections_out(), last);
      last = ops.dense_mlp(layer, last);
    }
    for (int layer = 0; layer < m.layers; ++layer) {
      last = ops.product(Phase::projection, layer, m.cross_kv(), last);
      const Bytes rows = cross_rows(c_);
      Op& made = graph_.ops[last.index()];  // written as they are cached, not as activations
      made.accesses.back() = {c_.placement.near, Direction::write, TensorClass::cross_rows,
                              rows * 2, rows * 2};
    }
    return last;
  }

  AttentionContext c_;
  const Method& method_;
  StepGraph& graph_;
  LayerOpsBuilder ops_;
  OpId last_;     // what comes next waits for it
  OpId guessed_;  // queries of the layer to come
  std::vector<LayerOps> layers_;
};

// Peak: residual stream and the widest product's input and output, and the logits. A prefill works
// off its prompts one after another, so that only one prompt's activations live at a time.
Bytes activations(const AttentionContext& c) {
  const LlmConfig& m = c.model;
  std::int64_t widest = m.intermediate + m.hidden;
  for (const auto& chain : {m.projections_in(), m.projections_out()})
    for (const Product& p : chain) widest = std::max(widest, p.in + p.produced);
  if (m.moe)
    widest = std::max(widest, (m.moe->experts_per_token + m.moe->shared_experts) *
                                  (m.moe->expert_intermediate + m.hidden));
  const std::int64_t positions = c.step.kind == StepKind::decode ? c.step.batch : c.step.context;
  const std::int64_t tokens = std::max(positions, cross_attends(c) ? c.step.encoder_context : 0);
  return stored(2 * m.hidden + widest, DataType::bf16) * tokens +
         stored(m.vocabulary, DataType::bf16) * c.step.batch;
}

}  // namespace

StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                             std::vector<std::string> tier_names) {
  const LlmConfig& m = context.model;
  const TierId near = context.placement.near;
  StepGraph graph;
  graph.tier_names = std::move(tier_names);
  graph.tokens = context.step.batch * context.new_positions();
  add_tensor(graph, TensorClass::weights, near, stored(m.parameters(), context.step.weight_type));
  add_tensor(graph, TensorClass::activations, near, activations(context));
  if (cross_attends(context))
    add_tensor(graph, TensorClass::cross_rows, near, cross_rows(context) * (2 * m.layers));
  add_method_tensors(method, context, graph);
  return graph;
}

StepGraph build_step(const AttentionContext& context, const Method& method,
                     std::vector<std::string> tier_names) {
  StepGraph graph = build_step_tensors(context, method, std::move(tier_names));
  const bool halves = context.step.overlap == Overlap::micro_batches && context.step.batch > 1;
  std::vector<std::int64_t> batches{context.step.batch};
  if (halves) batches = {context.step.batch - context.step.batch / 2, context.step.batch / 2};
  std::deque<Chain> chains;
  for (const std::int64_t batch : batches) {
    AttentionContext part = context;
    part.step.batch = batch;
    chains.emplace_back(std::move(part), method, graph).begin();
  }
  // Layer by layer, so that the copies of one micro-batch follow those of the other.
  OpId copy_after;
  for (int layer = 0; layer < context.model.layers; ++layer)
    for (Chain& chain : chains) chain.add_layer(layer, copy_after);
  for (Chain& chain : chains) chain.end();
  return graph;
}

}  // namespace tiersim
