#include "workloads/attention/prefill.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

// What one query head multiplies with, and the rows that it comes from: keys and values of each KV
// head; or, where the unpacking is absorbed into the projections, the latent itself.
struct HeadWidths {
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t rows = 0;       // of a position
  std::int64_t row_width = 0;  // keys and values together

  HeadWidths(const LlmConfig& model, LatentForm form) {
    if (model.mla && form == LatentForm::absorbed) {
      key = model.mla->head_latent() + model.mla->qk_rope_head_dim;
      value = model.mla->head_latent();
      rows = 1;
      row_width = model.mla->latent_width();
    } else {
      key = model.head_dim;
      value = model.value_dim();
      rows = model.kv_heads;
      row_width = key + value;
    }
  }
};

OpId add_pairs(StepGraph& graph, const AttentionContext& c, int layer, std::int64_t queries,
               std::int64_t positions, std::int64_t pairs, TensorClass from,
               std::vector<OpId> after) {
  const HeadWidths width(c.model, latent_form(c.step));
  const TierId near = c.placement.near;
  const std::int64_t heads = c.step.batch * c.model.heads;
  Op op{.phase = Phase::attention,
        .layer = layer,
        .family = KernelFamily::prefill_attention,
        .flops = Flops::from_base(2 * (width.key + width.value)) * heads * pairs};
  add_access(op, near, Direction::read, TensorClass::activations,
             stored(width.key, DataType::bf16) * (heads * queries));
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(width.value, DataType::bf16) * (heads * queries));
  const DataType type = from == TensorClass::activations ? DataType::bf16 : c.step.kv_type;
  add_access(op, near, Direction::read, from,
             stored(width.row_width, type) * (c.step.batch * width.rows * positions));
  op.after = std::move(after);
  return graph.add(std::move(op));
}

}  // namespace

std::int64_t causal_pairs(std::int64_t positions, std::int64_t window) {
  const std::int64_t growing = std::min(positions, window);
  return growing * (growing + 1) / 2 + (positions - growing) * window;
}

OpId add_prefill_attention(StepGraph& graph, const AttentionContext& c, int layer,
                           std::vector<OpId> after) {
  const std::int64_t positions = c.step.context;
  return add_pairs(graph, c, layer, positions, positions,
                   causal_pairs(positions, c.model.attended(positions)), TensorClass::activations,
                   std::move(after));
}

OpId add_full_attention(StepGraph& graph, const AttentionContext& c, int layer,
                        std::int64_t queries, std::int64_t positions, TensorClass from,
                        std::vector<OpId> after) {
  return add_pairs(graph, c, layer, queries, positions, queries * positions, from,
                   std::move(after));
}

}  // namespace tiersim
