#include "sim/base/check.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/early_exit/exit_plan.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kVocabularyTile = 128;     // rows of the head that a block multiplies
constexpr Bytes kBestTwo = Bytes::from_base(16);  // for each row: two logits, an index, a sum
constexpr Bytes kWord = Bytes::from_base(4);

void add_read(Op& op, TierId tier, Bytes size) {
  add_access(op, tier, Direction::read, TensorClass::activations, size);
}
void add_write(Op& op, TierId tier, Bytes size) {
  add_access(op, tier, Direction::write, TensorClass::activations, size);
}

Op small_kernel(int layer, OpId after) {
  return {.phase = Phase::head,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = {},
          .after = {after}};
}

// Every row's flag, which later layers read, and the word that the flags are ANDed into.
Bytes vote_reads(int layer, std::int64_t rows) {
  return layer == 0 ? kWord : kWord * (1 + rows);
}
Bytes vote_writes(std::int64_t rows) {
  return kWord * (1 + rows);
}

// Passes the batch's word to the decision and resets it for the next layer.
OpId add_gate(StepGraph& graph, TierId near, int layer, OpId after) {
  Op op = small_kernel(layer, after);
  add_read(op, near, kWord);
  add_write(op, near, kWord * 2);
  return graph.add(std::move(op));
}

OpId add_softmax(StepGraph& graph, const AttentionContext& c, int layer, std::int64_t rows,
                 OpId after) {
  const LlmConfig& m = c.model;
  const TierId near = c.placement.near;
  const std::int64_t tiles = (m.vocabulary + kVocabularyTile - 1) / kVocabularyTile;
  Op head{.phase = Phase::head,
          .layer = layer,
          .family = KernelFamily::gemm,
          .arithmetic = c.execution.arithmetic(c.step.weight_type),
          .flops = Flops::from_base(2) * (m.vocabulary * m.hidden * rows),
          .matrix = {.rows = rows,
                     .columns = m.vocabulary,
                     .depth = m.hidden,
                     .weight_bits = bits_with_scales(c.step.weight_type)},
          .after = {after}};
  add_access(head, near, Direction::read, TensorClass::weights,
             stored(m.vocabulary * m.hidden, c.step.weight_type));
  add_read(head, near, stored(rows * m.hidden, DataType::bf16));
  add_write(head, near, kBestTwo * (rows * tiles));
  const OpId best =
      LayerOpsBuilder(c, graph, rows)
          .collective(layer, CollectiveKind::all_gather, kBestTwo * (rows * c.parallel.tensor),
                      c.parallel.tensor, graph.add(std::move(head)));
  Op combine = small_kernel(layer, best);
  add_read(combine, near, kBestTwo * (rows * tiles) + vote_reads(layer, rows));
  add_write(combine, near, kBestTwo * rows + vote_writes(rows));
  return add_gate(graph, near, layer, graph.add(std::move(combine)));
}

// The residual add fused with the measure: three sums over the state for a cosine, two for a
// classifier.
OpId add_residual_vote(StepGraph& graph, const AttentionContext& c, bool cosine, int layer,
                       std::int64_t rows, OpId after) {
  const TierId near = c.placement.near;
  const Bytes states = stored(rows * c.model.hidden, DataType::bf16);
  Op op = small_kernel(layer, after);
  op.flops = Flops::from_base(cosine ? 6 : 4) * (rows * c.model.hidden);
  if (!cosine)
    add_access(op, near, Direction::read, TensorClass::weights,
               stored(c.model.hidden, DataType::bf16));
  add_read(op, near, states * (cosine ? 3 : 2) + vote_reads(layer, rows));
  add_write(op, near, states + kWord * 2 * rows + vote_writes(rows));
  return add_gate(graph, near, layer, graph.add(std::move(op)));
}

// The products that make a position's cached rows from its hidden state: keys and values, or the
// latent and its unpacking where the cache holds these.
std::vector<Product> kv_products(const LlmConfig& m) {
  if (!m.mla)
    return {{.in = m.hidden,
             .out = 2 * m.kv_width(),
             .produced = 2 * m.kv_width(),
             .weights = m.hidden * 2 * m.kv_width()}};
  // projections_in() defines the order of its products.
  const auto absorbed = m.projections_in(LatentForm::absorbed);
  std::vector<Product> out{absorbed[absorbed.size() - 2]};
  if (!m.caches_latents()) out.push_back(m.projections_in(LatentForm::explicit_heads).back());
  return out;
}

// Cached tensors of one sequence.
std::vector<CachedTensor> cached_of_one(const AttentionContext& c, const Method& method) {
  AttentionContext one = c;
  one.step.batch = 1;
  return method.cached(one);
}

DataType projection_type(const AttentionContext& c) {
  return c.step.weight_types.attention.value_or(c.step.weight_type);
}

OpId fill(StepGraph& graph, const AttentionContext& c, const Method& method, const FillWork& work,
          Op op) {
  const TierId near = c.placement.near;
  for (const Product& p : kv_products(c.model)) {
    op.flops += Flops::from_base(2) * (p.weights * work.pairs);
    op.matrix = {.rows = (work.pairs + work.layers - 1) / work.layers,
                 .columns = p.out,
                 .depth = p.in,
                 .count = work.layers,
                 .weight_bits = bits_with_scales(projection_type(c))};
  }
  add_read(op, near, stored(work.rows * c.model.hidden, DataType::bf16));
  add_read(op, near, kWord * 2 * work.rows);  // norm factor and position of each row
  Op to_far{.kind = OpKind::transfer,
            .phase = Phase::write_back,
            .layer = op.layer,
            .requester = RequesterKind::sm,
            .flops = {}};
  Bytes far_sum;
  for (const CachedTensor& tensor : cached_of_one(c, method)) {
    const Part part{tensor.tensor_class, tensor.per_position() * work.pairs, tensor.piece};
    add_access(tensor.tier == near ? op : to_far, tensor.tier, Direction::write, part);
    if (tensor.tier != near) far_sum += part.payload;
  }
  add_write(op, near, far_sum);
  const OpId made = graph.add(std::move(op));
  if (far_sum > Bytes{}) {
    add_read(to_far, near, far_sum);
    to_far.after = {made};
    graph.add(std::move(to_far));
  }
  return made;
}

Op fill_kernel(const AttentionContext& c, int layer, OpId after) {
  return {.phase = Phase::projection,
          .layer = layer,
          .family = KernelFamily::gemm,
          .arithmetic = c.execution.arithmetic(projection_type(c)),
          .flops = {},
          .after = {after}};
}

}  // namespace

OpId add_confidence(StepGraph& graph, const AttentionContext& device, ExitTechnique technique,
                    int layer, std::int64_t rows, OpId after) {
  TS_EXPECTS(layer >= 0 && rows >= 0, layer, rows);
  if (rows == 0 || !measures(technique)) return after;
  if (technique == ExitTechnique::softmax) return add_softmax(graph, device, layer, rows, after);
  return add_residual_vote(graph, device, technique == ExitTechnique::state, layer, rows, after);
}

OpId add_fill(StepGraph& graph, const AttentionContext& device, const Method& method,
              const FillWork& work, OpId after) {
  TS_EXPECTS(work.pairs <= work.rows * work.layers, work.pairs, work.rows, work.layers);
  if (work.pairs == 0) return after;
  Op op = fill_kernel(device, -1, after);
  std::int64_t weights = 0;
  for (const Product& p : kv_products(device.model)) weights += p.weights * work.layers;
  add_access(op, device.placement.near, Direction::read, TensorClass::weights,
             stored(weights, projection_type(device)));
  return fill(graph, device, method, work, std::move(op));
}

OpId add_fill_beside(StepGraph& graph, const AttentionContext& device, const Method& method,
                     int layer, std::int64_t rows, OpId after) {
  if (rows == 0) return after;
  return fill(graph, device, method, {.layers = 1, .rows = rows, .pairs = rows},
              fill_kernel(device, layer, after));
}

}  // namespace tiersim
