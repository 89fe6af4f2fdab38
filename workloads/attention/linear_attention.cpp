#include "workloads/attention/linear_attention.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

std::int64_t bits_of(StateType type) {
  return type == StateType::fp32 ? 32 : 16;
}

Bytes heads_state(const LinearConfig& linear, StateType type) {
  return Bytes::from_base(linear.state_elements() * bits_of(type) / 8);
}
Bytes conv_state(const LinearConfig& linear) {
  return stored(linear.conv_elements(), DataType::bf16);
}

// The sequences of a step, and their new tokens.
struct Work {
  std::int64_t sequences = 0;
  std::int64_t written = 0;    // states: of each new position of a decode step, else the last one
  std::int64_t tokens = 0;     // of all sequences
  std::int64_t continued = 0;  // sequences that have a state already
  std::int64_t chunks = 0;     // that kernels cut them into
  bool decode = false;
};

Work work_of(const AttentionContext& c) {
  const std::int64_t batch = c.step.batch;
  if (c.step.kind == StepKind::decode)
    return {.sequences = batch,
            .written = batch * c.new_positions(),
            .tokens = batch * c.new_positions(),
            .continued = batch,
            .decode = true};
  const std::int64_t size = c.model.linear->chunk;
  const auto chunks_of = [&](std::int64_t tokens) { return (tokens + size - 1) / size; };
  if (c.chunks.empty())
    return {.sequences = batch,
            .written = batch,
            .tokens = batch * c.new_positions(),
            .continued = c.step.found() > 0 ? batch : 0,
            .chunks = batch * chunks_of(c.new_positions())};
  Work out;
  for (const PromptChunk& chunk : c.chunks) {
    ++out.sequences;
    out.tokens += chunk.tokens;
    out.continued += chunk.before > 0 ? 1 : 0;
    out.chunks += chunks_of(chunk.tokens);
  }
  out.written = out.sequences;
  return out;
}

Op kernel(const AttentionContext& c, int layer, KernelFamily family, const Work& work) {
  const LinearConfig& linear = *c.model.linear;
  return {.phase = Phase::attention,
          .layer = layer,
          .family = family,
          .flops = {},
          .linear = {.sequences = work.sequences,
                     .tokens = std::max<std::int64_t>(1, work.tokens / work.sequences),
                     .decode = work.decode,
                     .key_heads = linear.key_heads,
                     .value_heads = linear.value_heads,
                     .key_dim = linear.key_head_dim,
                     .value_dim = linear.value_head_dim,
                     .taps = linear.conv_kernel,
                     .state_bits = bits_of(c.step.state_type),
                     .decay_by_element = linear.kind == LinearKind::kimi_delta,
                     .corrects = linear.kind != LinearKind::mamba2}};
}

// Elements that the update of the state reads of a token: queries, keys, values, and what decays
// and gates them.
std::int64_t inputs_of(const LinearConfig& linear) {
  const std::int64_t decay =
      linear.kind == LinearKind::kimi_delta ? linear.key_width() : linear.value_heads;
  return linear.conv_width() + linear.value_width() + decay + linear.value_heads;
}

}  // namespace

Bytes state_bytes(const LinearConfig& linear, StateType type) {
  return heads_state(linear, type) + conv_state(linear);
}

std::int64_t linear_tokens(const AttentionContext& c) {
  return work_of(c).tokens;
}

OpId add_linear_attention(StepGraph& graph, const AttentionContext& c, int layer, OpId after) {
  const LinearConfig& linear = *c.model.linear;
  const TierId near = c.placement.near;
  const Work work = work_of(c);
  const auto activations = [&](Op& op, Direction direction, std::int64_t elements) {
    add_access(op, near, direction, TensorClass::activations,
               stored(work.tokens * elements, DataType::bf16));
  };

  Op conv = kernel(c, layer, KernelFamily::causal_conv, work);
  conv.flops = Flops::from_base(2 * linear.conv_kernel * linear.conv_width()) * work.tokens;
  activations(conv, Direction::read, linear.conv_width());
  activations(conv, Direction::write, linear.conv_width());
  add_weights(conv, c, stored(linear.conv_width() * linear.conv_kernel, DataType::bf16));
  add_access(conv, near, Direction::read, TensorClass::states, conv_state(linear) * work.continued);
  add_access(conv, near, Direction::write, TensorClass::states, conv_state(linear) * work.written);
  conv.after = {after};
  const OpId convolved = graph.add(std::move(conv));

  Op update = kernel(c, layer, KernelFamily::linear_attention, work);
  const std::int64_t flops = work.decode ? linear.recurrent_flops() : linear.chunked_flops();
  update.flops = Flops::from_base(flops) * work.tokens;
  activations(update, Direction::read, inputs_of(linear));
  activations(update, Direction::write, linear.value_width());
  const Bytes state = heads_state(linear, c.step.state_type);
  const Bytes between = stored(linear.state_elements(), DataType::bf16) * work.chunks;
  add_access(update, near, Direction::read, TensorClass::states, state * work.continued + between);
  add_access(update, near, Direction::write, TensorClass::states, state * work.written + between);
  update.after = {convolved};
  return graph.add(std::move(update));
}

void add_states(StepGraph& graph, const AttentionContext& device) {
  const LlmConfig& m = device.model;
  if (const std::int64_t layers = m.linear_layers(); layers > 0)
    add_tensor(graph, TensorClass::states, device.placement.near,
               state_bytes(*m.linear, device.step.state_type) *
                   (layers * device.step.batch * (1 + device.drafted())));
}

}  // namespace tiersim
