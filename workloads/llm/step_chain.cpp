#include "workloads/llm/step_chain.hpp"

#include <algorithm>
#include <utility>

#include "workloads/attention/context_decode.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/linear_attention.hpp"
#include "workloads/attention/prefill.hpp"
#include "workloads/llm/shard.hpp"
#include "workloads/llm/turns.hpp"

namespace tiersim {
namespace {

bool cross_attends(const AttentionContext& c) {
  return c.model.encoder.has_value();
}

// The products that make the queries alone. Under MLA the last two projections are the cached
// latent and the unpacking: that of a query where it is absorbed, else that of keys and values.
std::vector<Product> query_products(const LlmConfig& m, LatentForm form) {
  if (m.q_lora_rank)
    return {full_product(m.hidden, m.query_latent()), m.projections_in(form).back()};
  if (!m.mla)
    return {{.in = m.hidden,
             .out = m.query_width(),
             .produced = m.query_width(),
             .weights = m.hidden * m.query_width()}};
  std::vector<Product> products = m.projections_in(form);
  if (m.attention_gate) products.erase(products.begin());
  products.erase(products.end() - 2);
  if (form == LatentForm::explicit_heads) products.pop_back();
  return products;
}

// Returns the products before attention. If the engine computes both latents of MLA in one kernel,
// their two products are one.
std::vector<Product> run_projections(const LlmConfig& m, LatentForm form,
                                     const ExecutionConfig& execution) {
  std::vector<Product> products = m.projections_in(form);
  if (execution.latent_products != LatentProducts::kernel || !m.mla || m.mla->q_lora_rank == 0)
    return products;
  const std::ptrdiff_t first = m.attention_gate ? 1 : 0;  // then queries, and the other latent
  const auto of_queries = products.begin() + first;
  const auto of_values = of_queries + 2;
  of_queries->out += of_values->out;
  of_queries->produced += of_values->produced;
  of_queries->weights += of_values->weights;
  products.erase(of_values);
  return products;
}

LayerOps attend_linearly(StepGraph& graph, const AttentionContext& c, int layer, OpId projected) {
  LayerOpsBuilder ops(c, graph, linear_tokens(c));
  const OpId read = add_linear_attention(graph, c, layer, ops.linear_split(layer, projected));
  return {.attended = ops.linear_norm(layer, read), .fetched = {}};
}

// Where keys and values of every head are made from latents, those of earlier positions are made
// again.
OpId unpack_before(StepGraph& graph, const AttentionContext& c, int layer, OpId projected) {
  const LatentForm form = latent_form(c.step);
  if (!c.model.mla || form != LatentForm::explicit_heads || c.prompt > 0) return projected;
  const std::int64_t before = c.step.batch * positions_before(c);
  if (before == 0) return projected;
  return LayerOpsBuilder(c, graph, before)
      .product(Phase::projection, layer, c.model.projections_in(form).back(), projected);
}

}  // namespace

StepGraph run_in_turns(StepGraph& graph, std::deque<StepChain>& chains) {
  TS_EXPECTS(!chains.empty());
  std::vector<int> batch_of;  // by operation
  const auto each = [&](const auto& add) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
      add(chains[i]);
      batch_of.resize(graph.ops.size(), static_cast<int>(i));
    }
  };
  each([](StepChain& chain) { chain.begin(); });
  // Layer by layer, so that the copies of the micro-batches alternate.
  OpId copy_after;
  for (int layer = 0; layer < chains.front().layers(); ++layer)
    each([&](StepChain& chain) { chain.add_layer(layer, copy_after); });
  each([](StepChain& chain) { chain.end(); });
  return in_turns(std::move(graph), batch_of);
}

Bytes cross_rows(const AttentionContext& c) {
  return stored(c.model.kv_width(), c.step.kv_type) * (c.step.batch * c.step.encoder_context);
}

LayerOps add_part_attention(StepGraph& graph, const AttentionPart& part, const Method& method,
                            int layer, OpId projected) {
  const LayerContexts contexts(part.context);
  const AttentionContext& c = contexts.of(layer);
  if (c.model.all_linear()) {
    return attend_linearly(graph, c, layer, projected);
  }
  LayerInputs in{
      .layer = layer, .projected = projected, .screen_after = projected, .before = part.layers};
  if (c.step.kind == StepKind::decode) return add_decode_layer(graph, c, method, in);
  in.projected = unpack_before(graph, c, layer, projected);
  return method.add_prefill_layer(c, in, graph);
}

StepChain::StepChain(DeviceStep step, const Method& method, StepGraph& graph)
    : step_(std::move(step)),
      c_(step_.context),
      contexts_(c_),
      method_(method),
      graph_(graph),
      own_(c_, graph, step_.own_tokens()),
      part_(c_, graph, step_.mlp_tokens()),
      group_(c_, graph, step_.group_tokens(),
             c_.parallel.experts == ExpertSharing::spread ? step_.mlp_tokens()
                                                          : step_.group_tokens()) {
  if (c_.ffn) ffn_ = std::make_unique<FfnChain>(step_, graph);
}

StepChain::StepChain(DeviceStep step, const Method& method, StepGraph& graph,
                     std::vector<AttentionPart> parts)
    : StepChain(std::move(step), method, graph) {
  parts_ = std::move(parts);
  TS_EXPECTS(c_.step.overlap != Overlap::micro_batches);
}

Bytes StepChain::hidden(std::int64_t tokens) const {
  return stored(tokens * c_.model.hidden, DataType::bf16);
}

void StepChain::begin(OpId after) {
  const ParallelConfig& p = c_.parallel;
  const bool whole = timed(Region::step);
  OpId host;
  if (whole && c_.host_works)
    host = graph_.add({.kind = OpKind::host, .phase = Phase::host, .flops = {}});
  last_ = host.valid() ? host : after;
  if (stage() == PipelineStage::last && timed(Region::layers)) {
    last_ = to_next_stage(last_);  // output of the previous stage
    if (host.valid() && after.valid()) graph_.ops[last_.index()].after.push_back(after);
    return;
  }
  if (!whole) return;
  const OpId encoded = cross_attends(c_) && prefill() ? encode() : OpId();
  // Each GPU has its own rows of the vocabulary, for all tokens or its own.
  const bool all = p.gathers_dense();
  const OpId rows = (all ? group_ : own_).embedding();
  for (const OpId before : {host, after, encoded})
    if (before.valid()) graph_.ops[rows.index()].after.push_back(before);
  if (all && spread())
    last_ = join_tokens(-1, group_.collective(-1, CollectiveKind::reduce_scatter,
                                              hidden(step_.group_tokens()), p.tensor, rows));
  else
    last_ = own_.collective(-1, CollectiveKind::all_reduce, hidden(step_.own_tokens()),
                            p.dense_shards(), rows);
  if (c_.joined > 0)
    last_ = own_.product(Phase::projection, -1, c_.model.joining(c_.joined), last_);
}

// Copies the far part of a layer's weights, with one operation for each tier that holds some. A
// prefetched copy waits for the copies of the layer before, and for the end of the layer two
// before, whose room it takes.
OpIds StepChain::bring_weights(int layer) {
  const FarWeights& far = c_.placement.weights;
  OpIds copies;
  if (!far.are_copied() || !timed(Region::layers)) return copies;
  const bool ahead = far.read == WeightRead::prefetched;
  for (const auto& [tier, bytes] :
       c_.placement.by_tier(far_layer(far, c_.model, layer, c_.step, c_.execution))) {
    if (bytes == Bytes{}) continue;
    Op copy{.kind = OpKind::transfer,
            .phase = Phase::weight_copy,
            .layer = layer,
            .requester = RequesterKind::copy_engine,
            .flops = {}};
    add_access(copy, tier, Direction::read, TensorClass::weights, bytes);
    add_access(copy, c_.placement.near, Direction::write, TensorClass::weights, bytes);
    if (ahead) copy.after = brought_.copies;
    if (const OpId before = ahead ? brought_.freed : last_; before.valid())
      copy.after.push_back(before);
    copies.push_back(graph_.add(std::move(copy)));
  }
  if (!copies.empty()) brought_.copies = copies;
  return copies;
}

void StepChain::add_layer(int layer, OpId& copy_after) {
  const OpIds brought = bring_weights(layer);
  const std::size_t first = graph_.ops.size();
  add_layer_ops(layer, copy_after);
  brought_.freed = std::exchange(brought_.used, last_);
  if (brought.empty()) return;
  const auto reader = std::find_if(
      graph_.ops.begin() + static_cast<std::ptrdiff_t>(first), graph_.ops.end(), [](const Op& op) {
        return op.kind == OpKind::compute &&
               std::ranges::any_of(op.accesses, [](const Access& access) {
                 return access.tensor_class == TensorClass::weights;
               });
      });
  if (reader == graph_.ops.end()) return;
  for (const OpId copy : brought) reader->after.push_back(copy);
}

void StepChain::add_layer_ops(int layer, OpId& copy_after) {
  const OpId input = last_;
  if (parts_.empty()) {
    last_ = attend(layer, input, copy_after);
    if (timed(Region::attention_block) && c_.model.type_of(layer) != LayerType::no_attention)
      last_ = output(own_, c_, step_.own_tokens(), layer, last_);
  } else {
    last_ = attend_parts(layer, input);
  }
  if (cross_attends(c_) && timed(Region::attention_block)) last_ = cross_attention(layer, last_);
  if (timed(Region::layers)) last_ = mlp(layer, last_);
}

OpId StepChain::project(LayerOpsBuilder& ops, const AttentionContext& c, int layer, OpId input) {
  const OpId normed = ops.norm(Phase::projection, layer, input);
  const LlmConfig& m = contexts_.of(layer).model;
  const OpId made = ops.products(
      Phase::projection, layer, run_projections(m, latent_form(c.step), c.execution), normed, true);
  if (m.all_linear()) return made;
  return ops.rotary(layer, ops.query_norms(layer, ops.latent_norms(layer, made)));
}

// Parts with the same latent form share the products.
OpId StepChain::attend_parts(int layer, OpId last) {
  if (c_.model.type_of(layer) == LayerType::no_attention) {
    for (AttentionPart& part : parts_) part.layers.push_back({.attended = last, .fetched = {}});
    return last;
  }
  for (const LatentForm form : {LatentForm::absorbed, LatentForm::explicit_heads}) {
    const auto has_form = [&](const AttentionPart& part) {
      return (c_.model.mla ? latent_form(part.context.step) : LatentForm::absorbed) == form;
    };
    std::int64_t rows = 0;
    const AttentionContext* like = nullptr;
    for (const AttentionPart& part : parts_) {
      if (!has_form(part)) continue;
      rows += part.rows();
      like = &part.context;
    }
    if (like == nullptr) continue;
    LayerOpsBuilder ops(c_, graph_, rows);
    last = project(ops, *like, layer, last);
    for (AttentionPart& part : parts_) {
      if (!part.attends || !has_form(part)) continue;
      part.layers.push_back(add_part_attention(graph_, part, method_, layer, last));
      last = part.layers.back().attended;
    }
    last = output(ops, *like, rows, layer, last);
  }
  return last;
}

OpId StepChain::attend(int layer, OpId input, OpId& copy_after) {
  if (c_.model.type_of(layer) == LayerType::no_attention) {
    layers_.push_back({.attended = input, .fetched = {}});
    guessed_ = guess(layer + 1, input);
    return input;
  }
  const OpId projected = timed(Region::attention_block) ? project(own_, c_, layer, input) : input;
  const LayerInputs in{.layer = layer,
                       .projected = projected,
                       .screen_after = guessed_.valid() ? guessed_ : projected,
                       .before = layers_,
                       .copy_after = c_.step.overlap == Overlap::serial ? OpId() : copy_after};
  const AttentionContext& c = contexts_.of(layer);
  const auto add = [&]() -> LayerOps {
    if (c.model.all_linear()) {
      return attend_linearly(graph_, c, layer, projected);
    }
    if (!prefill()) return add_decode_layer(graph_, c, method_, in);
    LayerInputs whole = in;
    whole.projected = unpack_before(graph_, c, layer, projected);
    return method_.add_prefill_layer(c, whole, graph_);
  };
  const LayerOps done = add();
  layers_.push_back(done);
  if (done.fetched.valid()) copy_after = done.fetched;
  guessed_ = guess(layer + 1, input);
  if (step_.handed_over > 0) {
    if (c_.handover->when == HandoverTime::layer_by_layer)
      hand_over(layer, done.attended);
    else
      waiting_.push_back(layer);
  }
  return done.attended;
}

// Latent slices add up their values before a split output projection, or after a replicated one.
OpId StepChain::output(LayerOpsBuilder& ops, const AttentionContext& c, std::int64_t tokens,
                       int layer, OpId attended) {
  const ParallelConfig& p = c_.parallel;
  const LlmConfig& m = contexts_.of(layer).model;
  std::vector<Product> chain = m.projections_out(latent_form(c.step));
  const Product last = chain.back();
  chain.pop_back();
  OpId at = ops.products(Phase::projection, layer, chain, attended);
  if (p.output_projection == OutputProjection::split && !m.all_linear()) {
    const std::int64_t values = c_.model.heads * c_.model.value_dim();
    at = ops.collective(layer, CollectiveKind::reduce_scatter,
                        stored(tokens * values, DataType::bf16), p.latent_slices, at);
  }
  at = ops.product(Phase::projection, layer, last, at);
  const CollectiveKind joined =
      parts_tokens(layer) ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  return ops.collective(layer, joined, hidden(tokens), p.attention_gpus(), at);
}

// True where GPUs that attend together have parts of their tokens for this layer's MLP: all GPUs
// gather them, or each sends its part to the experts.
bool StepChain::parts_tokens(int layer) const {
  return spread() && !ffn_ && c_.model.has_mlp(layer) &&
         (c_.parallel.gathers_dense() || c_.model.is_moe_layer(layer));
}

// Gives GPUs that attend together all of their tokens.
OpId StepChain::join_tokens(int layer, OpId last) {
  return own_.collective(layer, CollectiveKind::all_gather, hidden(step_.own_tokens()),
                         c_.parallel.attention_gpus(), last);
}

OpId StepChain::mlp(int layer, OpId last) {
  if (!c_.model.has_mlp(layer)) return last;
  const bool parts = parts_tokens(layer);
  last = (parts ? part_ : own_).norm(Phase::mlp, layer, last);
  if (ffn_) return ffn_->add_layer(layer, last);
  const std::int64_t ranks = c_.parallel.tensor;
  const Bytes all = hidden(step_.group_tokens());
  if (!spread())
    return group_.collective(layer, CollectiveKind::all_reduce, all, ranks,
                             group_.mlp(layer, last));
  if (c_.parallel.experts == ExpertSharing::spread && c_.model.is_moe_layer(layer))
    return join_tokens(layer, experts_spread(layer, last));
  if (!parts)
    return own_.collective(layer, CollectiveKind::all_reduce, hidden(step_.own_tokens()),
                           c_.parallel.dense_shards(), own_.mlp(layer, last));
  const OpId gathered = group_.collective(layer, CollectiveKind::all_gather, all, ranks, last);
  return join_tokens(layer, group_.collective(layer, CollectiveKind::reduce_scatter, all, ranks,
                                              group_.mlp(layer, gathered)));
}

// Each token goes to the GPUs of its experts and the outputs come back in bf16. `size` has a row
// for every expert of a token; an algorithm may send a token once to several of them.
OpId StepChain::experts_spread(int layer, OpId last) {
  const LlmConfig& m = c_.model;
  const MoeConfig& moe = *m.moe;
  const std::int64_t rows = step_.mlp_tokens() * moe.experts_per_token;
  if (!hot_) {
    // The rows that the most loaded GPU receives, over those that each one sends.
    const ExpertLoadConfig* load = drawn_load(c_);
    hot_ = load && step_.group_tokens() > 0
               ? expert_balance(*load, expert_group(moe, c_.parallel, step_.group_tokens())).rows /
                     static_cast<double>(rows)
               : 1;
  }
  const auto exchange = [&](DataType type, OpId after) {
    const CollectiveWork work{.kind = CollectiveKind::all_to_all,
                              .fabric = Fabric::experts,
                              .size = stored(rows * m.expert_hidden(), type),
                              .ranks = c_.parallel.tensor,
                              .copies = moe.experts_per_token,
                              .hot = *hot_};
    return group_.collective(layer, work, after);
  };
  const OpId sent = exchange(c_.parallel.dispatch_type.value_or(DataType::bf16), last);
  return exchange(DataType::bf16, group_.mlp(layer, sent));
}

PipelineStage StepChain::stage() const {
  return c_.model.part ? c_.model.part->stage : PipelineStage::whole;
}

OpId StepChain::to_next_stage(OpId after) {
  const Bytes streams = hidden(step_.own_tokens()) * c_.model.streams();
  return own_.collective(-1, CollectiveKind::send, streams, 2, after, Fabric::pipeline);
}

void StepChain::end() {
  if (stage() == PipelineStage::first) {
    if (timed(Region::layers)) last_ = to_next_stage(last_);
  } else if (timed(Region::step) && step_.logit_rows() > 0) {
    const std::int64_t ranks = c_.parallel.dense_shards();
    const std::int64_t rows = step_.head_rows();
    if (spread() && c_.parallel.gathers_dense())
      last_ = group_.collective(-1, CollectiveKind::all_gather, hidden(rows), ranks, last_);
    last_ = LayerOpsBuilder(c_, graph_, rows).norm(Phase::head, -1, last_);
    last_ = group_.head(rows, last_);
    last_ = group_.collective(-1, CollectiveKind::all_gather,
                              stored(step_.own_logit_rows() * step_.vocabulary, DataType::bf16),
                              ranks, last_);
    last_ = own_.sampling(step_.own_logit_rows(), step_.vocabulary, last_);
  }
  for (const int layer : waiting_) hand_over(layer, last_);
}

void StepChain::hand_over(int layer, OpId after) {
  const LlmConfig& m = contexts_.of(layer).model;
  const bool state = m.all_linear();
  const std::int64_t positions = state ? 0 : c_.step.batch * m.attended(c_.new_positions());
  const Bytes rows = state ? step_.handed_state * c_.step.batch : step_.handed_rows(positions);
  const Bytes index = m.indexer && !m.indexer->shared ? step_.handed_index * positions : Bytes{};
  Op op{.kind = OpKind::collective,
        .phase = Phase::kv_transfer,
        .layer = layer,
        .flops = {},
        .collective = {.kind = CollectiveKind::send,
                       .fabric = Fabric::transfer,
                       .size = rows + index,
                       .ranks = 2}};
  add_access(op, c_.placement.near, Direction::read,
             state ? TensorClass::states : TensorClass::keys, rows);
  add_access(op, c_.placement.near, Direction::read, TensorClass::index_keys, index);
  op.after = {after};
  graph_.add(std::move(op));
}

// The next layer's queries, from this layer's input: the residual stream changes little from layer
// to layer (InfiniGen, arXiv 2406.19707).
OpId StepChain::guess(int layer, OpId input) {
  if (c_.step.overlap != Overlap::prefetch_screening || prefill() || layer >= c_.model.layers ||
      !timed(Region::attention_block) || !caches_positions(c_.model.type_of(layer)))
    return OpId();
  std::vector<Product> products = method_.guess_products(c_.model);
  if (products.empty()) products = query_products(c_.model, latent_form(c_.step));
  return own_.products(Phase::screening, layer, products, input);
}

OpId StepChain::cross_attention(int layer, OpId last) {
  last = own_.products(Phase::projection, layer, c_.model.cross_projections_in(), last);
  last = add_full_attention(graph_, c_, layer, c_.new_positions(), c_.step.encoder_context,
                            TensorClass::cross_rows, {last});
  return own_.products(Phase::projection, layer, c_.model.cross_projections_out(), last);
}

// The encoder over its whole input, then keys and values for every cross attention.
OpId StepChain::encode() {
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
    Op& made = graph_.ops[last.index()];  // written as cached rows, not as activations
    made.accesses.back() = {c_.placement.near, Direction::write, TensorClass::cross_rows, rows * 2,
                            rows * 2};
  }
  return last;
}

}  // namespace tiersim
