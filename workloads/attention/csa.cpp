#include "workloads/attention/csa.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

constexpr Bytes kRowScore = Bytes::from_base(4);  // and an entry of a list

// What the new positions of all sequences, or of all pieces of prompts, read and make.
struct CompressedWork {
  std::int64_t queries = 0;
  std::int64_t window_pairs = 0;  // of a query and a row of the window
  std::int64_t window_rows = 0;   // of the ring that are read
  std::int64_t row_pairs = 0;     // of a query and a row that it attends to
  std::int64_t scored = 0;        // of a query and a row that the indexer scores
  std::int64_t rows = 0;          // that some query sees
  std::int64_t listed = 0;        // entries of the lists of chosen rows
  std::int64_t continued = 0;     // sequences with a state
  std::int64_t sequences = 0;
};

bool is_decode(const AttentionContext& c) {
  return c.step.kind == StepKind::decode;
}

CompressedWork compressed_work(const AttentionContext& c) {
  const LlmConfig& m = c.model;
  const CompressionConfig& rows = *m.compression;
  CompressedWork out;
  const auto add = [&](std::int64_t tokens, std::int64_t before, std::int64_t times) {
    const std::int64_t n = before + tokens;
    const std::int64_t most = m.indexer ? m.indexer->top_k : n;
    out.queries += times * tokens;
    out.window_pairs += times * (m.attended_pairs(n) - m.attended_pairs(before));
    out.window_rows += times * (is_decode(c) ? std::min(n, *m.attention_window + tokens - 1)
                                             : std::min(before, m.attended(n)));
    out.row_pairs += times * (rows.rows_read(n, most) - rows.rows_read(before, most));
    out.scored += times * (rows.rows_read(n, n) - rows.rows_read(before, n));
    out.rows += times * rows.rows(n);
    out.listed += times * tokens * std::min(most, rows.rows(n));
    out.continued += before > 0 ? times : 0;
    out.sequences += times;
  };
  if (is_decode(c)) {
    add(c.new_positions(), c.step.context - c.new_positions(), c.step.batch);
  } else if (c.chunks.empty()) {
    add(c.new_positions(), c.step.found(), c.step.batch);
  }
  for (const auto& [tokens, before] : c.chunks) add(tokens, before, c.step.batch);
  return out;
}

Bytes shared_row_of(const AttentionContext& c) {
  return shared_row(c.model.head_dim, c.model.shared_kv->rope_head_dim, c.step.kv_type);
}

Bytes mean_part(Bytes of, std::int64_t parts) {
  return Bytes::from_base((of.in_base() + parts - 1) / parts);
}

class Csa final : public Method {
 public:
  void describe(Fields& /*f*/) override {}

  std::optional<IndexerKind> runs_indexer() const override { return IndexerKind::csa; }
  bool verifies_drafts() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const CompressionConfig& rows = *c.model.compression;
    const TierId near = c.placement.near;
    std::vector<CachedTensor> out{{.tensor_class = TensorClass::states,
                                   .tier = near,
                                   .positions = 1,
                                   .piece = compressed_state(c.model, c.step.kv_type),
                                   .pieces = c.step.batch,
                                   .own_kernel = true}};
    if (rows.positions == 0) return out;
    const auto add = [&](TensorClass tensor_class, Bytes piece) {
      out.push_back({.tensor_class = tensor_class,
                     .tier = near,
                     .positions = rows.rows(c.step.context),
                     .piece = piece,
                     .pieces = c.step.batch,
                     .own_kernel = true,
                     .covers = rows.positions});
    };
    add(TensorClass::keys, shared_row_of(c));
    if (c.model.indexer) add(TensorClass::index_keys, c.model.indexer->key());
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    if (!c.model.indexer) return;
    const std::int64_t listed =
        std::min(c.model.indexer->top_k, c.model.compression->rows(c.step.context));
    // A prefill processes one prompt after another.
    const std::int64_t sequences = is_decode(c) ? c.step.batch : 1;
    add_tensor(graph, TensorClass::indices, c.placement.near,
               kRowScore * (sequences * c.new_positions() * listed));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    return {.attended = add(c, in.layer, in.projected, graph), .fetched = {}};
  }
  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    return {.attended = add(c, in.layer, in.projected, graph), .fetched = {}};
  }

 private:
  OpId add(const AttentionContext& c, int layer, OpId projected, StepGraph& graph) const {
    const CompressedWork work = compressed_work(c);
    OpId last = add_window_rows(c, layer, projected, work, graph);
    if (c.model.compression->positions > 0) {
      last = compress(c, layer, last, work, TensorClass::keys, c.model.head_dim, shared_row_of(c),
                      graph);
      if (c.model.indexer) last = choose(c, layer, last, work, graph);
    }
    return attend(c, layer, last, work, graph);
  }

  // A prompt leaves its last window in the ring.
  static OpId add_window_rows(const AttentionContext& c, int layer, OpId after,
                              const CompressedWork& work, StepGraph& graph) {
    const std::int64_t kept = std::min(work.queries, work.sequences * *c.model.attention_window);
    Op op{.phase = Phase::write_back,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = {},
          .fused = c.execution.append == SmallKernel::fused,
          .after = {after}};
    const Bytes size = shared_row_of(c) * kept;
    add_access(op, c.placement.near, Direction::write, TensorClass::states, size);
    add_access(op, c.placement.near, Direction::read, TensorClass::activations, size);
    return graph.add(std::move(op));
  }

  // The gate's kernel: inputs and gates of new positions go to the state, or in a prefill to the
  // rows directly.
  static OpId compress(const AttentionContext& c, int layer, OpId after, const CompressedWork& work,
                       TensorClass made, std::int64_t width, Bytes row, StepGraph& graph) {
    const CompressionConfig& rows = *c.model.compression;
    const TierId near = c.placement.near;
    const std::int64_t inputs = work.queries * rows.inputs(width);
    Op op{.phase = made == TensorClass::keys ? Phase::attention : Phase::screening,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = {},
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::activations, stored(inputs, DataType::bf16));
    if (is_decode(c)) {
      const Bytes kept = Bytes::from_base(4) * inputs;
      add_access(op, near, Direction::read, TensorClass::states, kept);
      add_access(op, near, Direction::write, TensorClass::states, kept);
    } else {
      add_access(op, near, Direction::read, TensorClass::states,
                 rows.state(width) * work.continued);
      add_access(op, near, Direction::write, TensorClass::states,
                 rows.state(width) * work.sequences);
    }
    add_access(op, near, Direction::write, made, mean_part(row * work.queries, rows.positions));
    return graph.add(std::move(op));
  }

  // The indexer's products, its compressed keys, their scores, and the choice of rows by them.
  static OpId choose(const AttentionContext& c, int layer, OpId after, const CompressedWork& work,
                     StepGraph& graph) {
    const IndexerConfig& indexer = *c.model.indexer;
    const TierId near = c.placement.near;
    const bool in_bf16 = indexer.stored_type() == DataType::bf16;
    after = LayerOpsBuilder(c, graph, work.queries)
                .products(Phase::screening, layer, c.model.index_projections(), after);
    after = compress(c, layer, after, work, TensorClass::index_keys, indexer.head_dim,
                     indexer.key(), graph);
    Op score{.phase = Phase::screening,
             .layer = layer,
             .family = KernelFamily::screening,
             .arithmetic = in_bf16 ? Arithmetic::bf16 : Arithmetic::fp8,
             .flops = Flops::from_base(2 * indexer.heads * indexer.head_dim) * work.scored,
             .after = {after}};
    add_access(score, near, Direction::read, TensorClass::index_keys, indexer.key() * work.rows);
    add_access(score, near, Direction::read, TensorClass::activations,
               stored(work.queries * indexer.heads * indexer.head_dim,
                      in_bf16 ? DataType::bf16 : DataType::fp8));
    add_access(score, near, Direction::write, TensorClass::activations, kRowScore * work.scored);
    const OpId scored = graph.add(std::move(score));
    Op pick{.phase = Phase::screening,
            .layer = layer,
            .family = KernelFamily::screening,
            .flops = {},
            .after = {scored}};
    add_access(pick, near, Direction::read, TensorClass::activations, kRowScore * work.scored);
    add_access(pick, near, Direction::write, TensorClass::indices, kRowScore * work.listed);
    return graph.add(std::move(pick));
  }

  static OpId attend(const AttentionContext& c, int layer, OpId after, const CompressedWork& work,
                     StepGraph& graph) {
    const LlmConfig& m = c.model;
    const TierId near = c.placement.near;
    const std::int64_t pairs = work.window_pairs + work.row_pairs;
    const std::int64_t executed =
        is_decode(c) ? c.kernel.executed_rows(m.heads, m.mix_width()) : m.heads;
    const auto flops = [&](std::int64_t heads) {  // of each pair of a query and a row
      return Flops::from_base(2 * (m.score_width() + m.mix_width())) * heads * pairs;
    };
    Op op{.phase = Phase::attention,
          .layer = layer,
          .family = is_decode(c) ? KernelFamily::latent_attention : KernelFamily::prefill_attention,
          .flops = flops(executed),
          .padding = flops(executed) - flops(m.heads),
          .after = {after}};
    const auto of_heads = [&](std::int64_t width) {
      return stored(work.queries * m.heads * width, DataType::bf16);
    };
    add_access(op, near, Direction::read, TensorClass::activations, of_heads(m.score_width()));
    add_access(op, near, Direction::write, TensorClass::activations, of_heads(m.mix_width()));
    const Bytes row = shared_row_of(c);
    if (!is_decode(c))  // the rows that the step made
      add_access(op, near, Direction::read, TensorClass::activations,
                 stored(work.queries * m.head_dim, DataType::bf16));
    add_access(op, near, Direction::read, TensorClass::states, row * work.window_rows);
    if (m.indexer)
      add_access(op, near, Direction::read, {TensorClass::keys, row * work.row_pairs, row});
    else
      add_access(op, near, Direction::read, TensorClass::keys, row * work.rows);
    return graph.add(std::move(op));
  }
};

}  // namespace

Bytes shared_row(std::int64_t width, std::int64_t rotary, DataType type) {
  if (type != DataType::fp8_block) return stored(width, type);
  constexpr std::int64_t kScaled = 64;
  constexpr std::int64_t kPadded = 8;
  const std::int64_t scales = (width - rotary + kScaled - 1) / kScaled;
  return stored(width - rotary, DataType::fp8) + stored(rotary, DataType::bf16) +
         Bytes::from_base((scales + kPadded - 1) / kPadded * kPadded);
}

Bytes compressed_state(const LlmConfig& m, DataType kv_type) {
  const CompressionConfig& rows = *m.compression;
  return shared_row(m.head_dim, m.shared_kv->rope_head_dim, kv_type) * *m.attention_window +
         rows.state(m.head_dim) + (m.indexer ? rows.state(m.indexer->head_dim) : Bytes{});
}

void register_csa(Registry<MethodKind>& registry) {
  registry.add("csa", {"compressed attention: rows of several positions beside a window, chosen by "
                       "the model's indexer where a layer has one (DeepSeek-V4)",
                       []() -> std::unique_ptr<Method> { return std::make_unique<Csa>(); }});
}

}  // namespace tiersim
