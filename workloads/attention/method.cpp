#include "workloads/attention/method.hpp"

#include <algorithm>

#include "workloads/attention/context_attention.hpp"
#include "workloads/attention/context_decode.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/attention/prefill.hpp"

namespace tiersim {

std::vector<std::pair<TierId, Bytes>> Placement::by_tier(Bytes far_weights) const {
  if (weight_tiers.empty()) return {{far, far_weights}};
  std::vector<std::pair<TierId, Bytes>> out;
  Bytes left = far_weights;
  for (const auto& [tier, part] : weight_tiers) {
    const bool last = out.size() + 1 == weight_tiers.size();
    out.emplace_back(tier, last ? left : std::min(left, scale_down(far_weights, part)));
    left -= out.back().second;
  }
  return out;
}

void Method::add_buffers(const AttentionContext&, StepGraph&) const {}

LayerOps Method::add_prefill_layer(const AttentionContext& context, const LayerInputs& in,
                                   StepGraph& graph) const {
  const std::vector<CachedTensor> kept = cached(context);
  const OpId stored_near = add_store(graph, context, in.layer, kept, in.projected);
  if (context.prompt > 0)
    return {.attended = add_context_attention(graph, context, in.layer, in.projected, stored_near),
            .fetched = {}};
  return {.attended = add_prefill_attention(graph, context, in.layer, kept, {stored_near}),
          .fetched = {}};
}

void add_method_tensors(const Method& method, const AttentionContext& context, StepGraph& graph) {
  const LayerContexts contexts(context);
  for (const AttentionContext* of_type : contexts.all()) {
    const AttentionContext c = rank_part(*of_type);
    for (const CachedTensor& tensor : method.cached(c))
      add_tensor(graph, tensor.tensor_class, tensor.tier, tensor.all() * c.model.layers);
    method.add_buffers(c, graph);
  }
}

}  // namespace tiersim
