#include "workloads/llm/step_builder.hpp"

#include <algorithm>
#include <deque>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/step_chain.hpp"

namespace tiersim {
namespace {

// Peak: residual stream and the widest product's input and output, and the logits. A prefill works
// off its prompts one after another, so that only one prompt's activations live at a time.
Bytes activations(const DeviceStep& step) {
  const AttentionContext& c = step.context;
  const LlmConfig& m = c.model;
  std::int64_t widest = 0;
  const LatentForm form = latent_form(c.step);
  for (const auto& chain : {m.projections_in(form), m.projections_out(form)})
    for (const Product& p : chain) widest = std::max(widest, p.in + p.produced);
  std::int64_t mlp = m.intermediate + m.hidden;
  if (m.moe)
    mlp = std::max(mlp, (m.moe->experts_per_token + m.moe->shared_experts) *
                            (m.moe->expert_intermediate + m.hidden));
  const auto live = [&](std::int64_t batch) {
    const std::int64_t positions = c.step.kind == StepKind::decode ? batch : c.step.context;
    return std::max(positions, m.encoder ? c.step.encoder_context : 0);
  };
  const std::int64_t own = live(c.step.batch);
  const std::int64_t group = live(step.group_batch);
  std::int64_t logits = m.vocabulary * step.group_batch;
  if (c.parallel.tensor > 1) logits += step.vocabulary * c.step.batch;
  return stored(std::max((2 * m.hidden + widest) * own, (2 * m.hidden + mlp) * group),
                DataType::bf16) +
         stored(logits, DataType::bf16);
}

// Partial results of a split attention, and the two buffers that a collective passes its pieces
// through.
Bytes workspace(const DeviceStep& step) {
  const AttentionContext& c = step.context;
  Bytes sum;
  if (c.step.kind == StepKind::decode)
    sum += c.kernel.partial_results(c.step.batch * c.model.heads, c.model.mix_width());
  if (c.parallel.tensor > 1) {
    const std::int64_t positions =
        c.step.kind == StepKind::decode ? step.group_batch : c.step.context;
    sum += stored(2 * positions * c.model.hidden, DataType::bf16);
  }
  return sum;
}

StepGraph with_tensors(const AttentionContext& replica, const Method& method,
                       std::vector<std::string> tier_names) {
  const DeviceStep step = device_step(replica);
  const AttentionContext& c = step.context;
  const TierId near = c.placement.near;
  StepGraph graph;
  graph.tier_names = std::move(tier_names);
  graph.tokens = replica.step.batch * replica.new_positions();
  add_tensor(graph, TensorClass::weights, near, stored(c.model.parameters(), c.step.weight_type));
  add_tensor(graph, TensorClass::activations, near, activations(step));
  add_tensor(graph, TensorClass::workspace, near, workspace(step));
  if (c.model.encoder)
    add_tensor(graph, TensorClass::cross_rows, near, cross_rows(c) * (2 * c.model.layers));
  add_method_tensors(method, c, graph);
  return graph;
}

}  // namespace

StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                             std::vector<std::string> tier_names) {
  return with_tensors(context, method, std::move(tier_names));
}

StepGraph build_step(const AttentionContext& context, const Method& method,
                     std::vector<std::string> tier_names) {
  StepGraph graph = with_tensors(context, method, std::move(tier_names));
  std::deque<StepChain> chains;
  OpId copy_after;
  const auto layers = static_cast<int>(device_step(context).context.model.layers);
  for (const std::int64_t batch : micro_batches(context)) {
    AttentionContext part = context;
    part.step.batch = batch;
    const OpId before = chains.empty() ? OpId() : chains.back().last();
    StepChain& chain = chains.emplace_back(device_step(part), method, graph);
    if (context.step.overlap == Overlap::micro_batches) {
      chain.begin();
      continue;
    }
    // Those of a pipeline come to a stage one after another.
    chain.begin(before);
    for (int layer = 0; layer < layers; ++layer) chain.add_layer(layer, copy_after);
    chain.end();
  }
  if (context.step.overlap != Overlap::micro_batches) return graph;
  // Layer by layer, so that the copies of one micro-batch follow those of the other.
  for (int layer = 0; layer < layers; ++layer)
    for (StepChain& chain : chains) chain.add_layer(layer, copy_after);
  for (StepChain& chain : chains) chain.end();
  return graph;
}

}  // namespace tiersim
