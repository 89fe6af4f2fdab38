#include "workloads/attention/prefill.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

// Widths of one query head's products and of the rows that they read: keys and values of each KV
// head, or the latent itself where the unpacking is absorbed into the projections.
struct HeadWidths {
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t rows = 0;       // of a position
  std::int64_t row_width = 0;  // keys and values together
  std::int64_t rotary = 0;     // of a latent

  HeadWidths(const LlmConfig& model, LatentForm form) {
    if (model.mla && form == LatentForm::absorbed) {
      key = model.mla->head_latent() + model.mla->qk_rope_head_dim;
      value = model.mla->head_latent();
      rows = 1;
      row_width = model.mla->latent_width();
      rotary = model.mla->qk_rope_head_dim;
    } else {
      key = model.head_dim;
      value = model.value_dim();
      rows = model.kv_heads;
      row_width = key + value;
    }
  }

  Bytes cached_row(DataType type) const {
    if (rotary > 0 || type != DataType::fp8_block)
      return tiersim::cached_row(row_width, rotary, type);
    return tiersim::cached_row(key, 0, type) + tiersim::cached_row(value, 0, type);
  }
};

// Positions that the queries of one sequence, or of all chunks, attend to.
struct Pairs {
  std::int64_t queries = 0;
  std::int64_t positions = 0;  // rows made by this step that are read
  std::int64_t pairs = 0;
  TensorClass from = TensorClass::activations;
  std::int64_t before = 0;  // rows cached earlier that are read
  TensorClass before_from = TensorClass::keys;
  bool causal = false;
  bool by_row = false;    // each query reads rows of its own
  std::int64_t runs = 0;  // of queries, which attend to rows of other ranks; 0: a whole sequence
};

Pairs causal(const AttentionContext& c) {
  const std::int64_t positions = c.new_positions();
  Pairs out{.queries = positions, .positions = positions, .causal = true};
  const LlmConfig& m = c.model;
  const auto add = [&](const PromptChunk& chunk) {
    const auto [tokens, before] = chunk;
    out.pairs += m.attended_pairs(before + tokens) - m.attended_pairs(before);
    out.before += m.attention_chunk ? before % *m.attention_chunk
                                    : std::min(before, m.attended(before + tokens));
  };
  if (c.chunks.empty()) add({positions, c.step.found()});
  for (const PromptChunk& chunk : c.chunks) add(chunk);
  return out;
}

// Each run of queries is a sequence of its own: causal attention over itself and as many positions
// before it as give the pairs.
AttentionShape block_shape(const AttentionContext& c, const Pairs& p) {
  const LlmConfig& m = c.model;
  const std::int64_t tokens = std::max<std::int64_t>(1, p.queries / p.runs);
  const std::int64_t mean = p.pairs / std::max<std::int64_t>(1, p.queries);
  return {.sequences = c.step.batch * p.runs,
          .heads = m.heads,
          .kv_heads = m.mla ? m.heads : m.kv_heads,
          .head_dim = (m.head_dim + m.value_dim()) / 2,
          .tokens = tokens,
          .before = m.attention_window.value_or(std::max<std::int64_t>(0, mean - tokens / 2)),
          .window = m.attention_window.value_or(0),
          .kv_bits = bits(c.step.kv_type)};
}

// Causal attention in the mean of all chunks; nothing for absorbed latents and for attention to
// rows of another kind. Unpacked latents are heads with the mean width of keys and values.
AttentionShape prefill_shape(const AttentionContext& c, const Pairs& p) {
  const LlmConfig& m = c.model;
  if (!p.causal || (m.mla && latent_form(c.step) == LatentForm::absorbed)) return {};
  if (p.runs > 0) return block_shape(c, p);
  auto chunks = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.chunks.size()));
  if (m.attention_chunk)  // each attends by itself
    chunks *= std::max<std::int64_t>(1, (p.queries + p.before) / (chunks * *m.attention_chunk));
  const std::int64_t tokens = std::max<std::int64_t>(1, p.queries / chunks);
  const std::int64_t before = p.before / chunks;
  const std::int64_t attended = m.attention_chunk ? before + tokens : m.attended(before + tokens);
  return {.sequences = c.step.batch * chunks,
          .heads = m.heads,
          .kv_heads = m.mla ? m.heads : m.kv_heads,
          .head_dim = (m.head_dim + m.value_dim()) / 2,
          .tokens = tokens,
          .before = before,
          .window = attended < before + tokens ? attended : 0,
          .kv_bits = bits(c.step.kv_type)};
}

OpId add_pairs(StepGraph& graph, const AttentionContext& c, int layer, const Pairs& p,
               OpIds after) {
  const HeadWidths width(c.model, latent_form(c.step));
  const TierId near = c.placement.near;
  const std::int64_t heads = c.step.batch * c.model.heads;
  Op op{.phase = Phase::attention,
        .layer = layer,
        .family = KernelFamily::prefill_attention,
        .flops = Flops::from_base(2 * (width.key + width.value)) * heads * p.pairs,
        .attention = prefill_shape(c, p)};
  add_access(op, near, Direction::read, TensorClass::activations,
             stored(width.key, DataType::bf16) * (heads * p.queries));
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(width.value, DataType::bf16) * (heads * p.queries));
  const auto add_rows = [&](TensorClass from, std::int64_t positions) {
    const Bytes row = from == TensorClass::activations ? stored(width.row_width, DataType::bf16)
                                                       : width.cached_row(c.step.kv_type);
    const Bytes all = row * (c.step.batch * width.rows * positions);
    add_access(op, near, Direction::read, {from, all, p.by_row ? row : all});
  };
  add_rows(p.from, p.positions);
  add_rows(p.before_from, p.before);
  op.after = std::move(after);
  return graph.add(std::move(op));
}

// Copies the far rows before the chunks to staging; those of each chunk are contiguous.
OpId fetch_before(StepGraph& graph, const AttentionContext& c, int layer, std::int64_t positions,
                  const std::vector<CachedTensor>& cached, OpIds after) {
  const auto of_class = [&](TensorClass wanted) {
    std::int64_t sum = 0;
    for (const CachedTensor& t : cached) sum += t.tensor_class == wanted ? t.positions : 0;
    return sum;
  };
  Fetch fetch{.by = RequesterKind::copy_engine, .after = std::move(after)};
  for (const CachedTensor& t : cached) {
    if (t.tensor_class != TensorClass::keys && t.tensor_class != TensorClass::values) continue;
    if (t.tier == c.placement.near || t.positions == 0) continue;
    const std::int64_t far = positions * t.positions / of_class(t.tensor_class);
    if (far == 0) continue;
    const std::int64_t run =
        std::max<std::int64_t>(1, far / std::max<std::int64_t>(1, std::ssize(c.chunks)));
    fetch.parts.push_back({t.tensor_class, t.per_position() * far, t.piece * run});
  }
  return fetch.parts.empty() ? OpId() : add_fetch(graph, c, layer, std::move(fetch));
}

}  // namespace

std::int64_t positions_before(const AttentionContext& c) {
  return causal(c).before;
}

std::int64_t causal_pairs(const AttentionContext& c) {
  return c.step.batch * causal(c).pairs;
}

OpId add_prefill_attention(StepGraph& graph, const AttentionContext& c, int layer,
                           const std::vector<CachedTensor>& cached, OpIds after) {
  Pairs pairs = causal(c);
  if (pairs.before > 0) {
    const OpId fetched = fetch_before(graph, c, layer, pairs.before, cached, after);
    if (fetched.valid()) {
      pairs.before_from = TensorClass::staging;
      after.push_back(fetched);
    } else if (c.model.mla && latent_form(c.step) == LatentForm::explicit_heads) {
      pairs.before_from = TensorClass::activations;  // unpacked for this step
    }
  }
  return add_pairs(graph, c, layer, pairs, std::move(after));
}

OpId add_sparse_prefill_attention(StepGraph& graph, const AttentionContext& c, int layer,
                                  std::int64_t most, SparseReads reads,
                                  const std::vector<CachedTensor>& cached, OpIds after) {
  AttentionContext sparse = c;
  sparse.model.attention_window = most;
  Pairs read = causal(sparse);
  const std::int64_t before = causal(c).before;
  const OpId fetched = before > 0 ? fetch_before(graph, c, layer, before, cached, after) : OpId();
  if (reads == SparseReads::each_query) {
    read.positions = 0;
    read.before = read.pairs;
    read.by_row = true;
  } else {
    read.before = before;
  }
  if (fetched.valid()) {
    read.before_from = TensorClass::staging;
    after.push_back(fetched);
  }
  return add_pairs(graph, c, layer, read, std::move(after));
}

OpId add_prefill_block(StepGraph& graph, const AttentionContext& c, int layer,
                       const PrefillBlock& block, OpIds after) {
  return add_pairs(graph, c, layer,
                   {.queries = block.queries,
                    .positions = block.keys,
                    .pairs = block.pairs,
                    .before = block.found,
                    .before_from = c.model.mla && latent_form(c.step) == LatentForm::explicit_heads
                                       ? TensorClass::activations
                                       : TensorClass::keys,
                    .causal = true,
                    .runs = block.runs},
                   std::move(after));
}

Bytes attended_row(const LlmConfig& model, LatentForm form) {
  const HeadWidths width(model, form);
  return stored(width.row_width * width.rows, DataType::bf16);
}

Bytes attended_query(const LlmConfig& model, LatentForm form) {
  return stored(HeadWidths(model, form).key * model.heads, DataType::bf16);
}

Bytes attended_result(const LlmConfig& model, LatentForm form) {
  return stored(HeadWidths(model, form).value * model.heads, DataType::bf16);
}

OpId add_full_attention(StepGraph& graph, const AttentionContext& c, int layer,
                        std::int64_t queries, std::int64_t positions, TensorClass from,
                        OpIds after) {
  return add_pairs(
      graph, c, layer,
      {.queries = queries, .positions = positions, .pairs = queries * positions, .from = from},
      std::move(after));
}

}  // namespace tiersim
