#include "workloads/attention/prefill.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

// Widths of one head where nothing is absorbed into the projections.
struct HeadWidths {
  std::int64_t key = 0;
  std::int64_t value = 0;

  explicit HeadWidths(const LlmConfig& model)
      : key(model.head_dim), value(model.mla ? model.mla->v_head_dim : model.head_dim) {}
};

OpId add_pairs(StepGraph& graph, const AttentionContext& c, int layer, std::int64_t queries,
               std::int64_t positions, std::int64_t pairs, TensorClass from,
               std::vector<OpId> after) {
  const HeadWidths width(c.model);
  const TierId near = c.placement.near;
  const std::int64_t heads = c.step.batch * c.model.heads;
  const std::int64_t kv_heads = c.step.batch * c.model.kv_heads;
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
             (stored(width.key, type) + stored(width.value, type)) * (kv_heads * positions));
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
