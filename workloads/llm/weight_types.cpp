#include "workloads/llm/weight_types.hpp"

#include "workloads/llm/weight_parts.hpp"

namespace tiersim {

DataType WeightTypes::of(WeightPart part, DataType all) const {
  switch (part) {
    case WeightPart::q_a:
    case WeightPart::q_b:
    case WeightPart::q:
    case WeightPart::kv_a:
    case WeightPart::kv_b:
    case WeightPart::kv:
    case WeightPart::o:
    case WeightPart::cross_attention:
    case WeightPart::linear_attention:
    case WeightPart::indexer:
      return attention.value_or(all);
    case WeightPart::mlp:
      return mlp.value_or(all);
    case WeightPart::router:
      return router.value_or(all);
    case WeightPart::experts:
      return experts.value_or(all);
    case WeightPart::shared_experts:
      return shared_experts.value_or(all);
    case WeightPart::other:
      return vectors.value_or(all);
    case WeightPart::encoder:
    case WeightPart::embedding:
    case WeightPart::head:
      return all;
  }
  return all;
}

void describe(Fields& f, WeightTypes& c) {
  f.doc("Element types of parts of the weights; the others have weight_type.");
  f.optional("attention", c.attention, kDataTypeNames, "Projections of attention.");
  f.optional("mlp", c.mlp, kDataTypeNames, "MLP of layers without experts.");
  f.optional("experts", c.experts, kDataTypeNames, "Routed experts.");
  f.optional("shared_experts", c.shared_experts, kDataTypeNames, "Shared experts.");
  f.optional("router", c.router, kDataTypeNames, "Router of the experts.");
  f.optional("vectors", c.vectors, kDataTypeNames, "Norms, biases and sinks.");
}

}  // namespace tiersim
