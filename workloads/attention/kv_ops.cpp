#include "workloads/attention/kv_ops.hpp"

#include <algorithm>
#include <cmath>

namespace tiersim {

KvShape::KvShape(const AttentionContext& c)
    : sequences(c.step.batch * c.model.kv_heads),
      context(c.step.context),
      head_dim(c.model.head_dim),
      query_heads(c.step.batch * c.model.heads),
      type(c.step.kv_type) {}

std::int64_t KvShape::chosen(double budget) const {
  return std::min(context,
                  static_cast<std::int64_t>(std::ceil(static_cast<double>(context) * budget)));
}

Bytes KvShape::indices(std::int64_t positions) const {
  return Bytes::from_base(context <= 65'536 ? 2 : 4) * (sequences * positions);
}

Flops KvShape::attention_flops(std::int64_t positions) const {
  return Flops::from_base(4 * head_dim) * (query_heads * positions);
}

void add_tensor(StepGraph& graph, TensorClass tensor_class, TierId tier, Bytes size) {
  if (size > Bytes{}) graph.tensors.push_back({tensor_class, tier, size});
}

OpId add_fetch(StepGraph& graph, const AttentionContext& context, int layer, Phase phase,
               Requester requester, const std::vector<FarPart>& parts, Bytes indices, OpId after) {
  Op op{.kind = OpKind::transfer,
        .phase = phase,
        .layer = layer,
        .requester = requester,
        .flops = {}};
  const auto [near, far] = context.placement;
  if (indices > Bytes{})
    op.accesses.push_back({near, Direction::read, TensorClass::indices, indices, indices});
  Bytes landed;
  for (const FarPart& part : parts) {
    op.accesses.push_back({far, Direction::read, part.tensor_class, part.payload, part.run});
    landed += part.payload;
  }
  op.accesses.push_back({near, Direction::write, TensorClass::staging, landed, landed});
  op.after = {after};
  return graph.add(std::move(op));
}

OpId add_attention(StepGraph& graph, const AttentionContext& context, int layer,
                   std::int64_t positions, TensorClass from, OpId after) {
  const KvShape shape(context);
  const TierId near = context.placement.near;
  const Bytes rows = shape.rows(positions);
  const Bytes stretch = shape.row() * positions;  // of one sequence, contiguous
  const Bytes queries = stored(shape.query_heads * shape.head_dim, DataType::bf16);
  Op op{.kind = OpKind::compute,
        .phase = Phase::attention,
        .layer = layer,
        .family = KernelFamily::attention,
        .flops = shape.attention_flops(positions)};
  op.accesses = {{near, Direction::read, TensorClass::activations, queries, queries},
                 {near, Direction::write, TensorClass::activations, queries, queries}};
  if (from == TensorClass::staging) {
    op.accesses.push_back({near, Direction::read, from, rows * 2, stretch});
  } else {
    op.accesses.push_back({near, Direction::read, TensorClass::keys, rows, stretch});
    op.accesses.push_back({near, Direction::read, TensorClass::values, rows, stretch});
  }
  op.after = {after};
  return graph.add(std::move(op));
}

void add_write_back(StepGraph& graph, const AttentionContext& context, int layer,
                    const std::vector<FarPart>& parts, OpId after) {
  Op op{.kind = OpKind::transfer,
        .phase = Phase::write_back,
        .layer = layer,
        .requester = Requester::sm,
        .flops = {}};
  const auto [near, far] = context.placement;
  Bytes total;
  for (const FarPart& part : parts) {
    op.accesses.push_back({far, Direction::write, part.tensor_class, part.payload, part.run});
    total += part.payload;
  }
  op.accesses.push_back({near, Direction::read, TensorClass::activations, total, total});
  op.after = {after};
  graph.add(std::move(op));
}

}  // namespace tiersim
