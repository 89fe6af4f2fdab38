#include "workloads/attention/kv_ops.hpp"

#include <algorithm>

#include "workloads/attention/expected_rows.hpp"

namespace tiersim {

void describe(Fields& f, WholeFetch& c) {
  f.doc("How the rows come from the far tier.");
  f.optional("by", c.by, kCopierNames, "Who copies them.");
}

Bytes cached_row(std::int64_t width, std::int64_t rotary, DataType type) {
  if (type != DataType::fp8_block) return stored(width, type);
  constexpr std::int64_t kScaled = 128;
  constexpr Bytes kScale = Bytes::from_base(4);
  const std::int64_t scales = (width - rotary + kScaled - 1) / kScaled;
  return stored(width - rotary, DataType::fp8) + kScale * scales + stored(rotary, DataType::bf16);
}

KvShape::KvShape(const AttentionContext& c)
    : batch(c.step.batch),
      spilled(c.spilled),
      sequences(batch * c.model.cached_heads()),
      new_positions(1 + c.drafted()),
      context(c.model.attended(c.step.context - c.drafted()) + c.drafted()),
      key_width(c.model.key_width()),
      value_width(c.model.value_width()),
      rotary_width(c.model.caches_latents() ? c.model.mla->qk_rope_head_dim : 0),
      query_heads(c.step.batch * c.model.heads * new_positions),
      queries_per_row(c.model.heads / c.model.cached_heads()),
      score_width(c.model.score_width()),
      mix_width(c.model.mix_width()),
      masked(c.mask.rows > 0 ? new_positions * c.mask.rows - c.mask.kept
                             : new_positions * (new_positions - 1) / 2),
      type(c.step.kv_type) {
  const std::int64_t groups = c.step.batch * c.model.key_groups();
  executed_heads = groups * c.kernel.executed_rows(query_heads / groups, mix_width);
}

std::int64_t KvShape::chosen(double share) const {
  return std::min(context, whole_up(static_cast<double>(context) * share));
}

Bytes KvShape::indices(std::int64_t positions) const {
  return Bytes::from_base(context <= 65'536 ? 2 : 4) * (sequences * positions);
}

void add_tensor(StepGraph& graph, TensorClass tensor_class, TierId tier, Bytes size) {
  if (size > Bytes{}) graph.tensors.push_back({tensor_class, tier, size});
}

std::vector<CachedTensor> cached_rows(const AttentionContext& context, TierId tier,
                                      std::int64_t positions) {
  const KvShape shape(context);
  std::vector<CachedTensor> out{
      {TensorClass::keys, tier, positions, shape.key_row(), shape.sequences}};
  if (shape.value_width > 0)
    out.push_back({TensorClass::values, tier, positions, shape.value_row(), shape.sequences});
  return out;
}

Parts row_runs(const KvShape& shape, std::int64_t positions, std::int64_t neighbours) {
  const std::int64_t rows = std::min(positions, neighbours);
  return {{TensorClass::keys, shape.keys(positions), shape.key_row() * rows},
          {TensorClass::values, shape.values(positions), shape.value_row() * rows}};
}

Parts contiguous_rows(const KvShape& shape, std::int64_t positions) {
  return row_runs(shape, positions, positions);
}

Parts staged_rows(const KvShape& shape, std::int64_t positions) {
  return {{TensorClass::staging, shape.both(positions), shape.key_row() * positions}};
}

void add_access(Op& op, TierId tier, Direction direction, const Part& part) {
  if (part.payload == Bytes{}) return;
  op.accesses.push_back({tier, direction, part.tensor_class, part.payload, part.run});
}

void add_access(Op& op, TierId tier, Direction direction, TensorClass tensor_class, Bytes payload) {
  add_access(op, tier, direction, {tensor_class, payload, payload});
}

void add_weights(Op& op, const AttentionContext& context, Bytes weights) {
  const FarWeights& far = context.placement.weights;
  const bool reads_far = op.layer >= 0 && far.any() && far.read == WeightRead::direct;
  const Bytes away = reads_far ? far.part_of(weights) : Bytes{};
  add_access(op, context.placement.near, Direction::read, TensorClass::weights, weights - away);
  for (const auto& [tier, bytes] : context.placement.by_tier(away))
    add_access(op, tier, Direction::read, TensorClass::weights, bytes);
}

OpId add_fetch(StepGraph& graph, const AttentionContext& context, int layer, Fetch fetch) {
  Op op{.kind = OpKind::transfer,
        .phase = fetch.phase,
        .layer = layer,
        .requester = fetch.by,
        .flops = {},
        .lookup = fetch.lookup};
  const TierId near = context.placement.near;
  const TierId far = context.placement.far;
  add_access(op, near, Direction::read, TensorClass::indices, fetch.indices);
  Bytes landed;
  for (const Part& part : fetch.parts) {
    if (part.payload == Bytes{}) continue;
    add_access(op, far, Direction::read, part);
    op.accesses.back().window = fetch.window;
    landed += part.payload;
  }
  add_access(op, near, Direction::write, TensorClass::staging, landed);
  op.after = std::move(fetch.after);
  return graph.add(std::move(op));
}

std::int64_t layers_in_flight(const StepConfig& step) {
  const bool guessed = step.kind == StepKind::decode && step.overlap == Overlap::prefetch_screening;
  return guessed ? 2 : 1;
}

KernelFamily attention_family(const LlmConfig& model, RowOrder order) {
  if (model.caches_latents()) return KernelFamily::latent_attention;
  if (order == RowOrder::by_index) return KernelFamily::gathered_attention;
  return model.kv_heads < model.heads ? KernelFamily::grouped_attention : KernelFamily::attention;
}

namespace {

// Of attention over a run of rows; nothing for gathered rows. All heads of a latent read it as both
// keys and values, so that it counts as one KV head of half its width.
AttentionShape decode_shape(const AttentionContext& c, std::int64_t positions, RowOrder order) {
  const LlmConfig& m = c.model;
  const bool latents = m.caches_latents();
  if (order == RowOrder::by_index || (!latents && m.key_width() != m.value_width())) return {};
  const std::int64_t tokens = 1 + c.drafted();
  const std::int64_t attended = m.attended(c.step.context - c.drafted()) + c.drafted();
  const bool windowed = m.attention_window && attended < c.step.context && positions == attended;
  return {.sequences = c.step.batch,
          .heads = m.heads,
          .kv_heads = m.key_groups(),
          .head_dim = latents ? m.score_width() / 2 : m.head_dim,
          .tokens = tokens,
          .before = std::max<std::int64_t>(0, (windowed ? c.step.context : positions) - tokens),
          .window = windowed ? attended : 0,
          .kv_bits = bits(c.step.kv_type)};
}

}  // namespace

OpId add_attention(StepGraph& graph, const AttentionContext& context, int layer,
                   std::int64_t positions, const Parts& parts, OpIds after, RowOrder order) {
  const KvShape shape(context);
  const TierId near = context.placement.near;
  Op op{.kind = OpKind::compute,
        .phase = Phase::attention,
        .layer = layer,
        .family = attention_family(context.model, order),
        .flops = shape.attention_flops(positions) + shape.padding_flops(positions),
        .padding = shape.padding_flops(positions) +
                   (positions == shape.context ? shape.masked_flops() : Flops{}),
        .attention = decode_shape(context, positions, order)};
  add_access(op, near, Direction::read, TensorClass::activations, shape.queries());
  add_access(op, near, Direction::write, TensorClass::activations, shape.outputs());
  for (const Part& part : parts) add_access(op, near, Direction::read, part);
  // One mask for all sequences and heads, of a bias in fp32 for each pair, as in vLLM's backend
  // TREE_ATTN.
  constexpr Bytes kBias = Bytes::from_base(4);
  add_access(op, near, Direction::read, TensorClass::indices,
             kBias * (context.mask.rows * shape.new_positions));
  op.after = std::move(after);
  return graph.add(std::move(op));
}

LayerOps add_whole_attention(StepGraph& graph, const AttentionContext& context, int layer,
                             WholeAttention whole) {
  const KvShape shape(context);
  const Parts rows = contiguous_rows(shape, shape.context);
  if (whole.tier == KvTier::near)
    return {.attended = add_attention(graph, context, layer, shape.context, rows, {whole.ready}),
            .fetched = {}};
  const std::int64_t far = shape.context - whole.near_positions;
  OpId fetched;
  Parts parts;
  if (far > 0) {
    fetched = add_fetch(graph, context, layer,
                        {.by = whole.by,
                         .parts = contiguous_rows(shape, far),
                         .after = std::move(whole.fetch_after)});
    parts = staged_rows(shape, far);
  }
  if (whole.near_positions > 0)
    for (const Part& part : contiguous_rows(shape, whole.near_positions)) parts.push_back(part);
  return {.attended =
              add_attention(graph, context, layer, shape.context, parts, {fetched, whole.ready}),
          .fetched = fetched};
}

OpId add_cpu_attention(StepGraph& graph, const AttentionContext& context, int layer, OpId ready) {
  const KvShape shape(context);
  const TierId near = context.placement.near;
  const TierId far = context.placement.far;
  const TierId host = context.placement.host.value_or(far);
  const auto transfer = [&](RequesterKind by, OpId after) {
    return Op{.kind = OpKind::transfer,
              .phase = Phase::attention,
              .layer = layer,
              .requester = by,
              .flops = {},
              .after = {after}};
  };
  Op send = transfer(RequesterKind::copy_engine, ready);
  add_access(send, near, Direction::read, TensorClass::activations, shape.queries());
  add_access(send, host, Direction::write, TensorClass::activations, shape.queries());
  Op attend = transfer(RequesterKind::cpu, graph.add(std::move(send)));
  for (const Part& part : contiguous_rows(shape, shape.context))
    add_access(attend, far, Direction::read, part);
  Op back = transfer(RequesterKind::copy_engine, graph.add(std::move(attend)));
  add_access(back, host, Direction::read, TensorClass::activations, shape.outputs());
  add_access(back, near, Direction::write, TensorClass::activations, shape.outputs());
  return graph.add(std::move(back));
}

OpId add_screening(StepGraph& graph, const AttentionContext& context, int layer,
                   const Screening& screening) {
  const KvShape shape(context);
  const TierId near = context.placement.near;
  Op op{.phase = Phase::screening,
        .layer = layer,
        .family = KernelFamily::screening,
        .arithmetic = screening.arithmetic,
        .flops = screening.flops};
  add_access(op, near, Direction::read, screening.read);
  add_access(op, near, Direction::write, TensorClass::indices, shape.indices(screening.listed));
  op.after = {screening.after};
  return graph.add(std::move(op));
}

OpId add_store(StepGraph& graph, const AttentionContext& context, int layer,
               const std::vector<CachedTensor>& cached, OpId after) {
  const TierId near = context.placement.near;
  Op to_far{.kind = OpKind::transfer,
            .phase = Phase::write_back,
            .layer = layer,
            .requester = RequesterKind::sm,
            .flops = {},
            .after = {after}};
  Op to_near{.phase = Phase::write_back,
             .layer = layer,
             .family = KernelFamily::elementwise,
             .flops = {},
             .fused = context.execution.append == SmallKernel::fused,
             .after = {after}};
  Bytes far_sum;
  Bytes near_sum;
  for (const CachedTensor& tensor : cached) {
    if (tensor.own_kernel) continue;
    const std::int64_t added = (context.new_positions() + tensor.covers - 1) / tensor.covers;
    const std::int64_t positions = std::min(added, tensor.positions);
    const std::int64_t all = (tensor.per_position() * positions).in_base();
    const Bytes kept = Bytes::from_base((all + context.holders - 1) / context.holders);
    const Part part{tensor.tensor_class, kept, std::min(tensor.piece * positions, kept)};
    const bool is_near = tensor.tier == near;
    add_access(is_near ? to_near : to_far, tensor.tier, Direction::write, part);
    (is_near ? near_sum : far_sum) += part.payload;
  }
  if (far_sum > Bytes{}) {
    add_access(to_far, near, Direction::read, TensorClass::activations, far_sum);
    graph.add(std::move(to_far));
  }
  if (near_sum == Bytes{}) return after;
  add_access(to_near, near, Direction::read, TensorClass::activations, near_sum);
  return graph.add(std::move(to_near));
}

}  // namespace tiersim
