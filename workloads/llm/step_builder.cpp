#include "workloads/llm/step_builder.hpp"

#include <algorithm>
#include <deque>

#include "workloads/attention/context_attention.hpp"
#include "workloads/attention/context_decode.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/linear_attention.hpp"
#include "workloads/llm/draft.hpp"
#include "workloads/llm/speculative_step.hpp"
#include "workloads/llm/step_chain.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim {
namespace {

// Positions that are live at a time. A prefill processes one prompt after another, or one on each
// GPU where each GPU has prompts of its own.
std::int64_t own_positions(const DeviceStep& step) {
  const StepConfig& s = step.context.step;
  const std::int64_t positions =
      s.kind == StepKind::decode ? step.own_tokens() : step.context.new_positions();
  return std::max(positions, step.context.model.encoder ? s.encoder_context : 0);
}
std::int64_t group_positions(const DeviceStep& step) {
  const AttentionContext& c = step.context;
  if (!c.parallel.sequences_are_spread()) return own_positions(step);
  if (c.step.kind == StepKind::decode) return step.group_tokens();
  return std::min(step.group_batch, c.parallel.sequence_groups()) * c.new_positions();
}

// True where some layer gathers the tokens of all GPUs.
bool gathers(const AttentionContext& c) {
  const ParallelConfig& p = c.parallel;
  return p.gathers_dense() || (c.model.moe && p.experts == ExpertSharing::split);
}

// Peak of activations: residual stream, the widest product's input and output, and the logits.
Bytes activations(const DeviceStep& step) {
  const AttentionContext& c = step.context;
  const LlmConfig& m = c.model;
  std::int64_t widest = 0;
  const LatentForm form = latent_form(c.step);
  for (const LayerType type : m.types()) {
    if (type == LayerType::no_attention) continue;
    const LlmConfig of_type = m.layers_of(type);
    for (const auto& chain : {of_type.projections_in(form), of_type.projections_out(form)})
      for (const Product& p : chain) widest = std::max(widest, p.in + p.produced);
  }
  std::int64_t mlp = m.intermediate + m.hidden;
  if (m.moe && !m.moe->removed)
    mlp = std::max(mlp, (m.moe->experts_per_token + m.moe->shared_experts) *
                            (m.moe->expert_intermediate + m.hidden));
  // The residual streams before and after a product, what hyper-connections join them to, and what
  // attention residuals keep of them.
  const std::int64_t streams =
      2 * m.streams() + (m.hyper ? 1 : 0) +
      (m.residual_block > 0 ? (m.layers + m.residual_block - 1) / m.residual_block : 0);
  const bool split = c.parallel.dense_shards() > 1;
  std::int64_t logits = m.vocabulary * step.head_rows();
  if (split) logits += step.vocabulary * step.own_logit_rows();
  return stored(std::max((streams * m.hidden + widest) * own_positions(step),
                         (streams * m.hidden + mlp) *
                             (gathers(c) ? group_positions(step) : own_positions(step))),
                DataType::bf16) +
         stored(logits, DataType::bf16);
}

// Partial results of a split attention, and the buffers of collectives.
Bytes workspace(const DeviceStep& step) {
  const AttentionContext& c = step.context;
  Bytes sum = context_buffers(c) + shared_buffers(c);
  if (c.step.kind == StepKind::decode) {
    const std::int64_t sequences = std::max(c.step.batch, c.shared);
    sum += c.kernel.partial_results(sequences * c.new_positions() * c.model.heads,
                                    c.model.mix_width());
  }
  if (c.parallel.tensor == 1) return sum;
  // Experts that are spread get a row for each of a token's experts.
  const std::int64_t copies = c.model.moe ? c.model.moe->experts_per_token : 1;
  const std::int64_t own = own_positions(step);
  const std::int64_t gpus = c.parallel.sequences_are_spread() ? c.parallel.attention_gpus() : 1;
  const std::int64_t rows =
      gathers(c) ? group_positions(step) : std::max(own, (own + gpus - 1) / gpus * copies);
  return sum + stored(2 * rows * c.model.hidden, DataType::bf16);
}

StepGraph with_tensors(AttentionContext replica, const Method& method,
                       std::vector<std::string> tier_names) {
  replica.step.context += replica.drafted();
  const DeviceStep step = device_step(replica);
  const AttentionContext& c = step.context;
  const TierId near = c.placement.near;
  StepGraph graph;
  graph.tier_names = std::move(tier_names);
  graph.tokens =
      replica.step.batch * (replica.step.kind == StepKind::decode ? 1 : replica.new_positions());
  const FarWeightBytes away = far_weight_bytes(c.placement.weights, c.model, c.step, c.execution);
  add_tensor(graph, TensorClass::weights, near,
             stored_weights(c.model, c.step, c.execution) - away.far);
  for (const auto& [tier, bytes] : c.placement.by_tier(away.far))
    add_tensor(graph, TensorClass::weights, tier, bytes);
  add_tensor(graph, TensorClass::activations, near, activations(step));
  add_tensor(graph, TensorClass::workspace, near, workspace(step) + away.room);
  if (c.model.encoder)
    add_tensor(graph, TensorClass::cross_rows, near, cross_rows(c) * (2 * c.model.layers));
  add_states(graph, c);
  add_method_tensors(method, c, graph);
  if (c.ffn) add_ffn_tensors(graph, replica);
  if (replica.speculation != nullptr) add_draft_tensors(graph, replica, method);
  return graph;
}

}  // namespace

StepGraph build_step_tensors(const AttentionContext& context, const Method& method,
                             std::vector<std::string> tier_names) {
  return with_tensors(context, method, std::move(tier_names));
}

StepGraph build_step(const AttentionContext& context, const Method& method,
                     std::vector<std::string> tier_names, std::vector<Op> room) {
  StepGraph graph = with_tensors(context, method, std::move(tier_names));
  room.clear();
  graph.ops = std::move(room);
  if (const std::int64_t drafts = drafts_of_step(context); drafts > 0) {
    add_speculative_step(graph, context, method, drafts);
    return graph;
  }
  std::deque<StepChain> chains;
  const auto add_chain = [&](std::int64_t batch) -> StepChain& {
    AttentionContext part = context;
    part.step.batch = batch;
    part.drafts = 0;
    return chains.emplace_back(device_step(part), method, graph);
  };
  if (context.step.overlap == Overlap::micro_batches || context.ffn) {
    for (const std::int64_t batch : micro_batches(context)) add_chain(batch);
    StepGraph out = run_in_turns(graph, chains);
    if (const auto& exchange = context.execution.exchange_sms)
      for (Op& op : out.ops)
        if (op.family == KernelFamily::gemm || op.family == KernelFamily::experts ||
            op.family == KernelFamily::batched_gemm)
          op.sm_share = exchange->left();
    return out;
  }
  OpId copy_after;
  for (const std::int64_t batch : micro_batches(context)) {
    const OpId before = chains.empty() ? OpId() : chains.back().last();
    StepChain& chain = add_chain(batch);
    if (chains.size() > 1) chain.copy_weights_after(chains[chains.size() - 2]);
    chain.begin(before);  // micro-batches of a pipeline reach a stage one after another
    for (int layer = 0; layer < chain.layers(); ++layer) {
      const std::size_t first = graph.ops.size();
      chain.add_layer(layer, copy_after);
      constexpr std::size_t kOutside = 16;  // operations of no layer
      if (layer == 0)                       // the others have about as many operations
        graph.ops.reserve(graph.ops.size() + kOutside +
                          static_cast<std::size_t>(chain.layers()) * (graph.ops.size() - first));
    }
    chain.end();
  }
  return graph;
}

}  // namespace tiersim
