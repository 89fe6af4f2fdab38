#include "workloads/llm/draft.hpp"

#include "sim/base/check.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim {
namespace {

// Layers like the target's last one with attention, which has experts where any has: heads of
// hybrid models have no linear attention (Qwen3-Next, Nemotron 3).
LlmConfig layers_like_last(const LlmConfig& target, std::int64_t layers) {
  std::int64_t last = target.layers - 1;
  while (last > 0 && !caches_positions(target.type_of(last))) --last;
  // A module has an indexer of its own (GLM-5.2).
  LayerType type = target.type_of(last);
  if (type == LayerType::shared_index) type = LayerType::indexed_attention;
  if (compresses(type)) type = LayerType::sliding_attention;  // a window alone (DeepSeek-V4)
  LlmConfig m = target.layers_of(type);
  m.layers = layers;
  m.mlp_types.clear();
  m.mtp.reset();
  if (m.moe) m.moe->dense_layers = 0;
  if (m.moe) m.moe->every = 1;
  if (m.moe) m.moe->hash_layers.reset();
  return m;
}

// Each vector that the input projection joins passes a norm.
std::int64_t input_weights(const AttentionContext& draft) {
  const std::int64_t hidden = draft.model.hidden;
  return draft.joined * (hidden * hidden + (draft.joined > 0 ? hidden : 0));
}

StepConfig types_of(const AttentionContext& target) {
  StepConfig step = target.step;
  const DraftConfig& draft = target.speculation->draft;
  // Counts are of the target's experts, and a draft model has others.
  if (draft.is(DraftKind::model) && step.expert_load && step.expert_load->counted)
    step.expert_load.reset();
  if (draft.weight_type) {
    step.weight_type = *draft.weight_type;
    step.weight_types = {};
  } else if (draft.is(DraftKind::model) && draft.model.weights) {
    step.weight_type = draft.model.weights->type;
    step.weight_types = draft.model.weights->parts;
  }
  return step;
}

}  // namespace

DraftModel draft_model(const DraftConfig& draft, const LlmConfig& target) {
  TS_EXPECTS(!draft.is(DraftKind::ngram));
  if (draft.is(DraftKind::model))
    return {.model = draft.model, .own_embedding = true, .own_head = true};
  if (draft.is(DraftKind::early_exit)) {
    LlmConfig first = target;
    first.layers = draft.layer;
    return {.model = std::move(first)};
  }
  if (draft.is(DraftKind::mtp))
    return {.model = layers_like_last(target, 1), .modules = target.mtp->modules, .joined = 2};
  DraftModel out{.model = layers_like_last(target, draft.layers), .joined = draft.inputs};
  out.model.moe.reset();
  out.own_head = draft.vocabulary.has_value();
  out.model.vocabulary = draft.vocabulary.value_or(target.vocabulary);
  return out;
}

AttentionContext draft_context(const AttentionContext& target) {
  TS_EXPECTS(target.speculation != nullptr);
  AttentionContext c = target;
  DraftModel draft = draft_model(target.speculation->draft, target.model);
  c.model = std::move(draft.model);
  c.joined = draft.joined;
  c.step = types_of(target);
  if (c.step.kind == StepKind::decode && !c.model.mla) c.step.latent = LatentUnpacking::automatic;
  c.speculation = nullptr;
  c.drafts = 0;
  c.host_works = false;
  return c;
}

std::int64_t draft_weights(const AttentionContext& target) {
  const DraftModel draft = draft_model(target.speculation->draft, target.model);
  const AttentionContext device = device_step(draft_context(target)).context;
  const WeightParts parts = weight_parts(device.model);
  std::int64_t sum = input_weights(device);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto part = static_cast<WeightPart>(p);
    if (part == WeightPart::embedding && !draft.own_embedding) continue;
    if (part == WeightPart::head && !draft.own_head) continue;
    sum += parts[p];
  }
  return sum * draft.modules;
}

void add_draft_tensors(StepGraph& graph, const AttentionContext& target, const Method& method) {
  if (!target.speculation->draft.has_tensors()) return;
  const DraftModel draft = draft_model(target.speculation->draft, target.model);
  const AttentionContext device = device_step(draft_context(target)).context;
  const WeightParts parts = weight_parts(device.model);
  Bytes weights = stored_part(WeightPart::q, input_weights(device), device.step, device.execution);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto part = static_cast<WeightPart>(p);
    if (part == WeightPart::embedding && !draft.own_embedding) continue;
    if (part == WeightPart::head && !draft.own_head) continue;
    weights += stored_part(part, parts[p], device.step, device.execution);
  }
  add_tensor(graph, TensorClass::weights, device.placement.near, weights * draft.modules);
  for (std::int64_t m = 0; m < draft.modules; ++m) add_method_tensors(method, device, graph);
}

std::vector<DraftPass> draft_passes(const SpeculationConfig& speculation, std::int64_t tokens) {
  std::vector<DraftPass> out;
  const DraftConfig& draft = speculation.draft;
  if (draft.is(DraftKind::ngram) || tokens == 0) return out;
  const TreeShape shape = speculation.shape(tokens);
  const std::int64_t depths = std::ssize(shape.nodes);
  out.push_back({});
  for (std::int64_t depth = 1; depth < depths; ++depth) {
    const std::int64_t nodes = shape.inner[static_cast<std::size_t>(depth - 1)];
    out.push_back({.positions = nodes, .ahead = out.back().ahead + nodes, .logits = nodes});
    if (draft.branches()) out.back().mask = shape.mask_of_pass(depth);
  }
  if (draft.is(DraftKind::early_exit)) return out;
  out.front().positions = draft.is(DraftKind::model) ? 2 : depths + 1;
  out.front().reads_prompts = true;
  return out;
}

}  // namespace tiersim
