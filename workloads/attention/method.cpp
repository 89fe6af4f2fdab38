#include "workloads/attention/method.hpp"

#include "workloads/attention/context_attention.hpp"
#include "workloads/attention/context_decode.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/attention/prefill.hpp"

namespace tiersim {

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
