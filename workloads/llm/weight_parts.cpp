#include "workloads/llm/weight_parts.hpp"

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

class Sums {
 public:
  void add(WeightPart part, std::int64_t weights) {
    parts_[static_cast<std::size_t>(part)] += weights;
  }
  const WeightParts& parts() const { return parts_; }

 private:
  WeightParts parts_{};
};

// projections_in() and projections_out() define the order of their products.
void add_latent_attention(const LlmConfig& m, Sums& sums) {
  auto in = m.projections_in();
  if (m.attention_gate) {
    sums.add(WeightPart::q, in.front().weights);
    in.erase(in.begin());
  }
  const auto out = m.projections_out();
  const std::size_t kv = in.size() - 2;  // after the one or two products of the queries
  TS_EXPECTS((kv == 1 || kv == 2) && out.size() == 2, in.size(), out.size());
  sums.add(kv == 1 ? WeightPart::q : WeightPart::q_a, in[0].weights);
  if (kv == 2) sums.add(WeightPart::q_b, in[1].weights);
  sums.add(WeightPart::kv_a, in[kv].weights);
  sums.add(WeightPart::kv_b, in[kv + 1].weights + out[0].weights);
  sums.add(WeightPart::o, out[1].weights);
}

// The order of projections_in() and projections_out().
void add_shared_row(const LlmConfig& m, Sums& sums) {
  const auto in = m.projections_in();
  sums.add(WeightPart::other, m.attention_vectors());
  sums.add(WeightPart::q_a, in[0].weights);
  sums.add(WeightPart::q_b, in[1].weights);
  for (std::size_t i = 2; i < in.size(); ++i) sums.add(WeightPart::kv, in[i].weights);
  sums.add(WeightPart::o, weights_of(m.projections_out()));
  if (!m.indexer) return;
  sums.add(WeightPart::other, m.index_vectors());
  sums.add(WeightPart::indexer, weights_of(m.index_projections()));
}

void add_attention(const LlmConfig& m, LayerType type, Sums& sums) {
  if (type == LayerType::no_attention) return;
  if (type == LayerType::linear_attention) {
    sums.add(WeightPart::other, m.linear->vectors());
    return sums.add(WeightPart::linear_attention,
                    m.linear->parameters(m.hidden) - m.linear->vectors());
  }
  if (m.shared_kv) return add_shared_row(m.layers_of(type), sums);
  sums.add(WeightPart::other, m.attention_vectors());
  if (m.indexer && type == LayerType::indexed_attention) {
    sums.add(WeightPart::other, m.indexer->vectors());
    sums.add(WeightPart::indexer, weights_of(m.index_projections()));
  }
  if (m.mla) return add_latent_attention(m, sums);
  if (m.q_lora_rank) {
    sums.add(WeightPart::q_a, m.hidden * m.query_latent());
    sums.add(WeightPart::q_b, m.query_latent() * m.query_width());
  } else {
    sums.add(WeightPart::q, m.hidden * m.query_width() * (m.attention_gate ? 2 : 1));
  }
  sums.add(WeightPart::kv, m.hidden * 2 * m.kv_width());
  sums.add(WeightPart::o, m.projections_out().front().weights);
}

void add_cross_attention(const LlmConfig& m, Sums& sums) {
  for (const auto& chain : {m.cross_projections_in(), m.cross_projections_out()})
    for (const Product& product : chain) sums.add(WeightPart::cross_attention, product.weights);
  sums.add(WeightPart::cross_attention, m.cross_kv().weights);
  sums.add(WeightPart::other, m.hidden);  // the norm before it
}

void add_mlp(const LlmConfig& m, std::int64_t layer, Sums& sums) {
  if (!m.is_moe_layer(layer)) return sums.add(WeightPart::mlp, m.mlp_weights());
  sums.add(WeightPart::router, m.router_weights());
  sums.add(WeightPart::experts, m.held_experts() * m.expert_weights());
  sums.add(WeightPart::shared_experts, m.shared_weights() + m.latent_weights());
  sums.add(WeightPart::other, m.expert_vectors(layer));
}

void add_layer(const LlmConfig& m, std::int64_t layer, Sums& sums) {
  add_attention(m, m.type_of(layer), sums);
  sums.add(WeightPart::other, m.norms_of(layer) * m.hidden + m.hyper_parameters(layer));
  if (m.encoder) add_cross_attention(m, sums);
  if (m.has_mlp(layer)) add_mlp(m, layer, sums);
}

}  // namespace

WeightParts layer_weight_parts(const LlmConfig& model, std::int64_t layer) {
  Sums sums;
  add_layer(model, layer, sums);
  return sums.parts();
}

WeightParts weight_parts(const LlmConfig& m) {
  Sums sums;
  for (std::int64_t layer = 0; layer < m.layers; ++layer) add_layer(m, layer, sums);
  sums.add(WeightPart::encoder, m.encoder_parameters());
  if (!m.tied_embeddings) sums.add(WeightPart::embedding, m.vocabulary * m.hidden);
  const bool first = m.part && m.part->stage == PipelineStage::first;
  sums.add(first ? WeightPart::embedding : WeightPart::head, m.vocabulary * m.hidden);
  sums.add(WeightPart::other, m.relative_buckets * m.heads + m.hidden +  // the last norm
                                  m.hyper_head());
  if (m.residual_block > 0) sums.add(WeightPart::other, 2 * m.hidden);
  return sums.parts();
}

Bytes stored_part(WeightPart part, std::int64_t weights, const StepConfig& step,
                  const ExecutionConfig& execution) {
  const bool vocabulary = part == WeightPart::embedding || part == WeightPart::head;
  return stored(weights, vocabulary ? execution.vocabulary(step.weight_type)
                                    : step.weight_types.of(part, step.weight_type));
}

Bytes stored_weights(const LlmConfig& model, const StepConfig& step,
                     const ExecutionConfig& execution) {
  if (!execution.vocabulary_type && !step.weight_types.any())
    return stored(model.parameters(), step.weight_type);
  const WeightParts parts = weight_parts(model);
  Bytes sum;
  for (std::size_t p = 0; p < parts.size(); ++p)
    sum += stored_part(static_cast<WeightPart>(p), parts[p], step, execution);
  return sum;
}

}  // namespace tiersim
