#include "workloads/attention/layer_contexts.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

LayerContexts::LayerContexts(const AttentionContext& whole) : whole_(whole) {
  const LlmConfig& model = whole.model;
  if (model.layer_types.empty()) return;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const LayerType type = model.type_of(layer);
    if (std::ranges::find(types_, type, &OfType::type) != types_.end()) continue;
    AttentionContext of_type = whole;
    of_type.model = model.layers_of(type);
    types_.push_back({type, std::move(of_type)});
  }
}

const AttentionContext& LayerContexts::of(std::int64_t layer) const {
  if (types_.empty()) return whole_;
  const auto at = std::ranges::find(types_, whole_.model.type_of(layer), &OfType::type);
  TS_EXPECTS(at != types_.end(), layer);
  return at->context;
}

std::vector<const AttentionContext*> LayerContexts::all() const {
  if (types_.empty()) return {&whole_};
  std::vector<const AttentionContext*> out;
  for (const OfType& of_type : types_)
    if (caches_positions(of_type.type)) out.push_back(&of_type.context);
  return out;
}

std::vector<LayersCached> cached_by_type(const Method& method, const AttentionContext& whole) {
  std::vector<LayersCached> out;
  const LayerContexts contexts(whole);
  for (const AttentionContext* c : contexts.all())
    out.push_back({c->model.layers, method.cached(*c), c->model.attention_chunk.value_or(0)});
  return out;
}

}  // namespace tiersim
