#include "workloads/llm/device_step.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/linear_attention.hpp"
#include "workloads/llm/context_pieces.hpp"
#include "workloads/llm/ffn_share.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim {
namespace {

std::int64_t cached_of(const LlmConfig& m) {
  return m.cached_heads() * (m.key_width() + m.value_width());
}

}  // namespace

LlmConfig device_model(const LlmConfig& model, const StepConfig& step,
                       const ParallelConfig& parallel) {
  LlmConfig m = model;
  if (m.mla && step.kind == StepKind::decode && latent_form(step) == LatentForm::explicit_heads)
    m.mla->unpacked = true;
  m = shard_of(m, parallel);
  // A stage of a pipeline may have layers of one type where the model has several.
  return m.layer_types.empty() || m.mixes_types() ? m : m.layers_of(m.type_of(0));
}

DeviceStep device_step(const AttentionContext& context) {
  const ParallelConfig& p = context.parallel;
  DeviceStep out{.context = context,
                 .group_batch = context.step.batch,
                 .vocabulary = context.model.vocabulary};
  AttentionContext& device = out.context;
  device.model = device_model(device.model, device.step, p);
  if (p.cuts_prompts() && context.step.kind == StepKind::prefill) {
    TS_EXPECTS(context.chunks.empty());
    device.prompt = context.new_positions();
    device.prompt_found = context.step.found();
    if (!device.context_rank) device.context_rank = heaviest_rank(p, device.prompt);
    const std::int64_t rank = *device.context_rank;
    if (device.prompt_found > 0) device.step.cached = found_by(p, device.prompt_found, rank);
    device.step.context = positions_of(pieces_of(p, device.prompt, rank)) + device.step.found();
  }
  if (p.cuts_prompts() && context.step.kind == StepKind::decode) {
    device.shared = context.step.batch;
    device.step.batch = p.own_sequences(context.step.batch);
    out.group_batch = device.step.batch;
  }
  if (p.sequences_are_spread()) device.step.batch = p.own_sequences(context.step.batch);
  if (context.handover) {
    // All copies of the decoding replica, sent by all GPUs that share this one's layers.
    const ParallelConfig& to = context.handover->to;
    const std::int64_t copies = to.attention_gpus();
    const std::int64_t senders = p.attention_gpus();
    const LlmConfig received = shard_of(context.model, to);
    const auto sent = [&](std::int64_t each) { return (each * copies + senders - 1) / senders; };
    out.handed_over = sent(cached_of(received));
    if (received.indexer)
      out.handed_index = Bytes::from_base(sent(received.indexer->key().in_base()));
    if (received.linear)
      out.handed_state =
          Bytes::from_base(sent(state_bytes(*received.linear, device.step.state_type).in_base()));
  }
  return out;
}

// Scales are in proportion to the elements, as rows of all GPUs have the same share of them.
Bytes DeviceStep::handed_rows(std::int64_t positions) const {
  const DataType type = context.step.kv_type;
  if (type != DataType::fp8_block) return stored(positions * handed_over, type);
  const KvShape shape(context);
  const std::int64_t elements = shape.key_width + shape.value_width;
  const std::int64_t bytes = (shape.key_row() + shape.value_row()).in_base() * handed_over;
  return Bytes::from_base((bytes + elements - 1) / elements) * positions;
}

// Splits a GPU's own sequences, so that each of them is in one micro-batch.
std::vector<std::int64_t> micro_batches(const AttentionContext& context) {
  const ParallelConfig& p = context.parallel;
  const std::int64_t gpus =
      context.step.kind == StepKind::decode || p.sequences_are_spread() ? p.sequence_groups() : 1;
  const std::int64_t own = (context.step.batch + gpus - 1) / gpus;
  const bool halves = context.step.overlap == Overlap::micro_batches;
  const std::int64_t wanted = context.ffn ? context.ffn->micro_batches : halves ? 2 : p.pipeline;
  const std::int64_t parts = std::min(own, wanted);
  std::vector<std::int64_t> out;
  std::int64_t left = context.step.batch;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t of_gpu = own / parts + (i < own % parts ? 1 : 0);
    out.push_back(std::min(of_gpu * gpus, left));
    left -= out.back();
  }
  return out;
}

double pipeline_stretch(const AttentionContext& context) {
  const std::int64_t stages = context.parallel.pipeline;
  if (stages == 1) return 1;
  const auto parts = static_cast<std::int64_t>(micro_batches(context).size());
  const std::int64_t passes = context.step.kind == StepKind::decode ? stages : parts + stages - 1;
  return static_cast<double>(passes) / static_cast<double>(parts);
}

}  // namespace tiersim
