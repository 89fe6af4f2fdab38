#include "workloads/llm/ffn_share.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim {
namespace {

// Tokens of a micro-batch that one GPU sends: GPUs that have the same ones send equal parts.
std::int64_t sent_tokens(const DeviceStep& attending) {
  const ParallelConfig& p = attending.context.parallel;
  const std::int64_t copies = p.attention_gpus();
  return (attending.own_tokens() + copies - 1) / copies;
}

// The step of an FFN GPU: all tokens of the micro-batch, of every group that attends.
DeviceStep ffn_step(const DeviceStep& attending) {
  AttentionContext c = attending.context;
  const FfnShare& share = *c.ffn;
  std::int64_t batch = attending.group_batch;
  // A prefill reads one prompt after another, or one on each group of GPUs with its own.
  if (c.step.kind == StepKind::prefill) batch = std::min(batch, c.parallel.sequence_groups());
  c.step.batch = batch * share.groups;
  c.model = share.model;
  c.parallel = share.parallel;
  c.placement = {.near = share.near, .far = share.near};
  c.ffn = nullptr;
  return device_step(c);
}

AttentionContext routing_context(const DeviceStep& attending) {
  AttentionContext out = attending.context;
  out.model = out.ffn->model;
  return out;
}

DataType sent_type(const FfnShare& share) {
  return share.parallel.dispatch_type.value_or(DataType::bf16);
}

// Rows of a token that are sent, in the mean.
double rows_of_token(const FfnShare& share, bool spreads) {
  if (!spreads) return 1;
  const MoeConfig& moe = *share.model.moe;
  return gpus_of_token(moe.experts, moe.experts_per_token, share.parallel.tensor);
}

// Rows that the FFN GPU with the most loaded experts gets, over the mean.
double most_loaded(const AttentionContext& ffn, const FfnShare& share, std::int64_t tokens) {
  const ExpertLoadConfig* load = drawn_load(ffn);
  const MoeConfig& moe = *share.model.moe;
  if (load == nullptr || tokens == 0) return 1;
  const auto mean = static_cast<double>(tokens * moe.experts_per_token) /
                    static_cast<double>(share.parallel.tensor);
  return std::max(1.0,
                  expert_balance(*load, expert_group(moe, share.parallel, tokens)).rows / mean);
}

std::int64_t rounded(double rows) {
  return static_cast<std::int64_t>(std::ceil(rows));
}

bool spreads_experts(const FfnShare& share) {
  return share.parallel.experts == ExpertSharing::spread && share.parallel.tensor > 1;
}

}  // namespace

LlmConfig attention_part(const LlmConfig& model) {
  LlmConfig out = model;
  out.moe.reset();
  out.intermediate = 0;
  std::ranges::replace(out.mlp_types, MlpType::experts, MlpType::dense);
  return out;
}

std::int64_t router_weights_beside_attention(const FfnShare& share) {
  if (!share.model.moe || !spreads_experts(share)) return 0;
  return share.model.router_weights() * share.model.moe_layers();
}

WeightParts ffn_weights(const FfnShare& share) {
  WeightParts out = weight_parts(shard_of(share.model, share.parallel));
  const WeightParts others = weight_parts(shard_of(attention_part(share.model), share.parallel));
  for (std::size_t part = 0; part < out.size(); ++part) out[part] -= others[part];
  out[static_cast<std::size_t>(WeightPart::router)] -= router_weights_beside_attention(share);
  return out;
}

double gpus_of_token(std::int64_t experts, std::int64_t top_k, std::int64_t ranks) {
  const double held = static_cast<double>(experts) / static_cast<double>(ranks);
  double none = 1;  // the probability that a GPU has none of the token's experts
  for (std::int64_t i = 0; i < top_k; ++i) {
    const auto left = static_cast<double>(experts - i);
    none *= std::max(left - held, 0.0) / left;
  }
  return static_cast<double>(ranks) * (1 - none);
}

void add_ffn_tensors(StepGraph& graph, const AttentionContext& replica) {
  const FfnShare& share = *replica.ffn;
  const bool prefill = replica.step.kind == StepKind::prefill;
  const std::vector<std::int64_t> batches =
      prefill ? std::vector{std::min(replica.step.batch, replica.parallel.sequence_groups())}
              : micro_batches(replica);
  AttentionContext largest = replica;
  largest.step.batch = batches.front();
  const DeviceStep attending = device_step(largest);
  const DeviceStep step = ffn_step(attending);
  const AttentionContext& c = step.context;
  const LlmConfig& m = c.model;

  const WeightParts parts = ffn_weights(share);
  Bytes weights;
  for (std::size_t p = 0; p < parts.size(); ++p)
    weights += stored_part(static_cast<WeightPart>(p), parts[p], c.step, c.execution);
  add_tensor(graph, TensorClass::weights, share.near, weights);
  add_tensor(
      graph, TensorClass::weights, replica.placement.near,
      stored_part(WeightPart::router, router_weights_beside_attention(share), c.step, c.execution));

  // Input and output of an MLP, of all tokens that a GPU computes at a time.
  const bool spreads = spreads_experts(share);
  const double rows = rows_of_token(share, spreads && m.moe);
  const double hot = spreads && m.moe ? most_loaded(c, share, step.group_tokens()) : 1;
  const double here = static_cast<double>(step.own_tokens()) * rows * hot;
  std::int64_t elements =
      (m.intermediate + m.hidden) *
      (share.parallel.dense_shards() > 1 ? step.group_tokens() : step.own_tokens());
  if (m.moe) {
    const std::int64_t computed = spreads ? step.own_tokens() : step.group_tokens();
    elements = std::max(
        elements, computed * (m.moe->experts_per_token * (m.moe->expert_intermediate + m.hidden) +
                              m.moe->shared_experts * (m.moe->shared_width() + m.hidden)));
  }
  // An all-gather gives each GPU the tokens of all of them, in a buffer beside the tokens it
  // received.
  if (share.parallel.tensor > 1 && (!spreads || share.parallel.dense_shards() > 1))
    elements += step.group_tokens() * m.hidden;
  add_tensor(graph, TensorClass::activations, share.near, stored(elements, DataType::bf16));

  // Rows that come and go, of every micro-batch.
  const auto buffers = [&](double tokens) {
    const std::int64_t sent = rounded(tokens) * m.hidden * std::ssize(batches);
    return stored(sent, sent_type(share)) + stored(sent, DataType::bf16);
  };
  add_tensor(graph, TensorClass::workspace, share.near, buffers(here));
  add_tensor(graph, TensorClass::workspace, replica.placement.near,
             buffers(static_cast<double>(sent_tokens(attending)) * rows));
}

FfnChain::FfnChain(const DeviceStep& step, StepGraph& graph)
    : attending_(step),
      graph_(graph),
      routing_(routing_context(step)),
      step_(ffn_step(step)),
      router_(routing_, graph, sent_tokens(step)),
      own_(step_.context, graph, step_.own_tokens()),
      group_(step_.context, graph, step_.group_tokens(),
             step_.context.parallel.experts == ExpertSharing::spread ? step_.own_tokens()
                                                                     : step_.group_tokens()) {}

bool FfnChain::spreads(int layer) const {
  return spreads_experts(*attending_.context.ffn) && step_.context.model.is_moe_layer(layer);
}

OpId FfnChain::exchange(int layer, GpuRole from, Bytes sent, Bytes received, OpId after) {
  const TierId attends = attending_.context.placement.near;
  const TierId computes = step_.context.placement.near;
  const bool out = from == GpuRole::main;
  Op op{.kind = OpKind::collective,
        .role = from,
        .phase = Phase::collective,
        .layer = layer,
        .flops = {},
        .collective = {.kind = CollectiveKind::send,
                       .fabric = Fabric::ffn,
                       .size = sent,
                       .ranks = 2,
                       .received = received}};
  add_access(op, out ? attends : computes, Direction::read, TensorClass::activations, sent);
  add_access(op, out ? computes : attends, Direction::write, TensorClass::activations, received);
  op.after = {after};
  return graph_.add(std::move(op));
}

// The MLP on the FFN GPUs. Tokens that each of them has a part of are gathered first.
OpId FfnChain::compute(int layer, OpId sent) {
  const ParallelConfig& p = step_.context.parallel;
  const LlmConfig& m = step_.context.model;
  if (spreads(layer)) return group_.routed_experts(layer, sent);
  if (p.tensor == 1) return group_.mlp(layer, sent);
  if (p.dense_shards() == 1 && !m.is_moe_layer(layer)) return own_.mlp(layer, sent);
  const Bytes all = stored(step_.group_tokens() * m.hidden, DataType::bf16);
  const OpId gathered = group_.collective(layer, CollectiveKind::all_gather, all, p.tensor, sent);
  return group_.collective(layer, CollectiveKind::reduce_scatter, all, p.tensor,
                           group_.mlp(layer, gathered));
}

OpId FfnChain::add_layer(int layer, OpId last) {
  const FfnShare& share = *attending_.context.ffn;
  const LlmConfig& m = share.model;
  const bool spread = spreads(layer);
  if (spread) last = router_.router(layer, last);
  const std::int64_t tokens = sent_tokens(attending_);
  const double rows = rows_of_token(share, spread);
  const double hot = spread ? most_loaded(step_.context, share, step_.group_tokens()) : 1;
  const std::int64_t here = rounded(static_cast<double>(tokens) * rows);
  const std::int64_t there = rounded(static_cast<double>(step_.group_tokens()) * rows * hot /
                                     static_cast<double>(share.parallel.tensor));
  const auto bytes = [&](std::int64_t count, DataType type) {
    return stored(count * m.hidden, type);
  };
  const DataType type = sent_type(share);
  last = exchange(layer, GpuRole::main, bytes(here, type), bytes(there, type), last);
  const std::size_t first = graph_.ops.size();
  last = compute(layer, last);
  for (std::size_t op = first; op < graph_.ops.size(); ++op) graph_.ops[op].role = GpuRole::ffn;
  last = exchange(layer, GpuRole::ffn, bytes(there, DataType::bf16), bytes(here, DataType::bf16),
                  last);
  const ParallelConfig& p = attending_.context.parallel;
  if (p.attention_gpus() == 1) return last;
  return router_.collective(layer, CollectiveKind::all_gather,
                            bytes(attending_.own_tokens(), DataType::bf16), p.attention_gpus(),
                            last);
}

}  // namespace tiersim
