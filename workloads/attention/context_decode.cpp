#include "workloads/attention/context_decode.hpp"

#include <algorithm>
#include <utility>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/layer_contexts.hpp"

namespace tiersim {
namespace {

constexpr Bytes kSumBytes = Bytes::from_base(4);  // of a query head's exponentials, fp32

OpId exchange(StepGraph& graph, const AttentionContext& c, int layer, CollectiveKind kind,
              Bytes size, OpId after) {
  Op op{.kind = OpKind::collective,
        .phase = Phase::collective,
        .layer = layer,
        .flops = {},
        .collective = {.kind = kind,
                       .fabric = Fabric::context,
                       .size = size,
                       .ranks = c.parallel.context_ranks()}};
  for (const Direction direction : {Direction::read, Direction::write})
    add_access(op, c.placement.near, direction, TensorClass::activations, size);
  op.after = {after};
  return graph.add(std::move(op));
}

// The results of the rank's own sequences, of which each rank has sent a part. A multiplication and
// an addition for each element of a partial result: as many as its bytes.
OpId merge(StepGraph& graph, const AttentionContext& c, int layer, OpId after) {
  const KvShape own(c);
  const std::int64_t ranks = c.parallel.context_ranks();
  Op op{.phase = Phase::attention,
        .layer = layer,
        .family = KernelFamily::elementwise,
        .flops = Flops::from_base(own.outputs().in_base()) * ranks};
  add_access(op, c.placement.near, Direction::read, TensorClass::activations,
             (own.outputs() + kSumBytes * own.query_heads) * ranks);
  add_access(op, c.placement.near, Direction::write, TensorClass::activations, own.outputs());
  op.after = {after};
  return graph.add(std::move(op));
}

}  // namespace

AttentionContext rank_part(const AttentionContext& device) {
  AttentionContext c = device;
  if (device.shared == 0) return c;
  const std::int64_t ranks = c.parallel.context_ranks();
  const auto part = [ranks](std::int64_t positions) { return (positions + ranks - 1) / ranks; };
  c.step.batch = std::exchange(c.shared, 0);
  c.step.context = part(c.step.context - c.drafted()) + c.drafted();
  if (c.model.attention_window) c.model.attention_window = part(*c.model.attention_window);
  if (c.model.attention_chunk) c.model.attention_chunk = part(*c.model.attention_chunk);
  c.holders = ranks;
  return c;
}

namespace {

// Queries, keys and values of the new positions of all sequences, and their partial results.
struct Exchanged {
  Bytes gathered;
  Bytes results;
  Bytes sums;  // of the results' exponentials

  explicit Exchanged(const AttentionContext& part) {
    const KvShape shape(part);
    const std::int64_t width = part.model.key_width() + part.model.value_width();
    gathered =
        shape.queries() + stored(shape.sequences * part.new_positions() * width, DataType::bf16);
    results = shape.outputs();
    sums = kSumBytes * shape.query_heads;
  }
};

}  // namespace

Bytes shared_buffers(const AttentionContext& device) {
  Bytes most;
  if (device.shared == 0) return most;
  const LayerContexts contexts(device);
  for (const AttentionContext* of_type : contexts.all()) {
    const Exchanged of(rank_part(*of_type));
    most = std::max(most, of.gathered + (of.results + of.sums) * 2);  // sent and received
  }
  return most;
}

LayerOps add_decode_layer(StepGraph& graph, const AttentionContext& c, const Method& method,
                          LayerInputs in) {
  if (c.shared == 0) return method.add_layer(c, in, graph);
  const AttentionContext part = rank_part(c);
  const Exchanged of(part);
  in.projected =
      exchange(graph, c, in.layer, CollectiveKind::all_gather, of.gathered, in.projected);
  in.screen_after = in.projected;
  LayerOps done = method.add_layer(part, in, graph);
  add_access(graph.ops[done.attended.index()], c.placement.near, Direction::write,
             TensorClass::activations, of.sums);
  const OpId back =
      exchange(graph, c, in.layer, CollectiveKind::all_to_all, of.results + of.sums, done.attended);
  done.attended = merge(graph, c, in.layer, back);
  return done;
}

}  // namespace tiersim
