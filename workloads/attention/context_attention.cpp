#include "workloads/attention/context_attention.hpp"

#include <algorithm>
#include <utility>

#include "workloads/attention/kv_ops.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/attention/prefill.hpp"
#include "workloads/llm/context_pieces.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

constexpr Bytes kLogSum = Bytes::from_base(4);  // of a query head's exponentials, fp32

bool sees_part(const LlmConfig& m) {
  return m.attention_window || m.attention_chunk;
}

// Positions before a piece that its first position attends to.
std::int64_t rows_before(const LlmConfig& m, std::int64_t first) {
  if (m.attention_window) return std::min(first, *m.attention_window - 1);
  return m.attention_chunk ? first % *m.attention_chunk : first;
}

// One GPU's part of the exchange in layers of one type.
class Exchange {
 public:
  explicit Exchange(const AttentionContext& c)
      : c_(c),
        ranks_(c.parallel.context_ranks()),
        rank_(*c.context_rank),
        own_(pieces(rank_)),
        form_(latent_form(c.step)) {}

  OpId add(StepGraph& graph, int layer, OpId made, OpId ready) const {
    const ContextExchange exchange = c_.parallel.exchange();
    if (exchange == ContextExchange::all_to_all) return add_all_to_all(graph, layer, ready);
    if (exchange == ContextExchange::ring && !sees_part(c_.model))
      return add_ring(graph, layer, made, ready);
    if (exchange == ContextExchange::ring && neighbours_suffice())
      return add_neighbours(graph, layer, made, ready);
    return add_all_gather(graph, layer, made, ready);
  }

  // Of one prompt.
  Bytes buffers() const {
    const ContextExchange exchange = c_.parallel.exchange();
    if (exchange == ContextExchange::all_to_all)
      return (queries_and_rows() + result_row()) * positions_of(own_);
    if (exchange == ContextExchange::ring && !sees_part(c_.model))
      return exchanged_row(c_.model) * (2 * hop()) + partial_row() * partial_queries() +
             unpacked(hop());
    const std::int64_t rows = exchange == ContextExchange::ring && neighbours_suffice()
                                  ? most_from_neighbours()
                                  : c_.prompt;
    return exchanged_row(c_.model) * rows + unpacked(rows);
  }

 private:
  std::vector<PromptPiece> pieces(std::int64_t rank) const {
    return pieces_of(c_.parallel, c_.prompt, rank);
  }
  std::int64_t hop() const { return most_positions(c_.parallel, c_.prompt); }
  Bytes result_row() const { return attended_result(c_.model, form_); }
  Bytes partial_row() const { return result_row() + kLogSum * c_.model.heads; }
  bool unpacks() const { return c_.model.mla && form_ == LatentForm::explicit_heads; }
  Bytes unpacked(std::int64_t rows) const {
    return unpacks() ? attended_row(c_.model, form_) * rows : Bytes{};
  }

  // The rank whose rows are there in a step of the ring.
  std::int64_t source(std::int64_t step) const { return (rank_ - step + ranks_) % ranks_; }
  std::int64_t partial_queries() const {
    std::int64_t sum = 0;
    for (std::int64_t step = 0; step < ranks_; ++step)
      sum += piece_pairs(own_, pieces(source(step))).queries;
    return sum;
  }

  OpId exchange(StepGraph& graph, int layer, CollectiveKind kind, Bytes size, OpIds after) const {
    Op op{.kind = OpKind::collective,
          .phase = Phase::collective,
          .layer = layer,
          .flops = {},
          .collective = {.kind = kind, .fabric = Fabric::context, .size = size, .ranks = ranks_}};
    for (const Direction direction : {Direction::read, Direction::write})
      add_access(op, c_.placement.near, direction, TensorClass::activations, size);
    op.after = std::move(after);
    return graph.add(std::move(op));
  }

  // Keys and values of received latents.
  OpId unpack(StepGraph& graph, int layer, std::int64_t positions, OpId after) const {
    if (!unpacks() || positions == 0) return after;
    return LayerOpsBuilder(c_, graph, c_.step.batch * positions)
        .product(Phase::projection, layer, c_.model.projections_in(form_).back(), after);
  }

  // The next rows travel beside the attention over these.
  OpId add_ring(StepGraph& graph, int layer, OpId made, OpId ready) const {
    const Bytes size = exchanged_row(c_.model) * (c_.step.batch * hop());
    OpId rows = made;
    OpId before;  // attention of the step before
    for (std::int64_t step = 0; step < ranks_; ++step) {
      const bool last = step + 1 == ranks_;
      const OpId next =
          last ? OpId() : exchange(graph, layer, CollectiveKind::send, size, {rows, before});
      const auto from = pieces(source(step));
      const PiecePairs met = piece_pairs(own_, from);
      if (met.pairs > 0) {
        const OpId read = step == 0 ? ready : unpack(graph, layer, positions_of(from), rows);
        const std::int64_t runs = step == 0 ? 1 : runs_of(met.queries);
        before = add_prefill_block(
            graph, c_, layer,
            {.queries = met.queries, .keys = met.keys, .pairs = met.pairs, .runs = runs},
            {read, before});
        add_access(graph.ops[before.index()], c_.placement.near, Direction::write,
                   TensorClass::activations, log_sums(met.queries));
      }
      if (!last) rows = next;
    }
    return merge(graph, layer, before);
  }

  Bytes log_sums(std::int64_t queries) const {
    return kLogSum * (c_.step.batch * c_.model.heads * queries);
  }
  // Number of the rank's pieces that these queries are.
  std::int64_t runs_of(std::int64_t queries) const {
    return queries == positions_of(own_) ? static_cast<std::int64_t>(own_.size()) : 1;
  }

  // A multiplication and an addition for each element of a partial result.
  OpId merge(StepGraph& graph, int layer, OpId after) const {
    const std::int64_t parts = c_.step.batch * partial_queries();
    const std::int64_t results = c_.step.batch * positions_of(own_);
    Op op{.phase = Phase::attention,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = Flops::from_base(result_row().in_base()) * parts};
    add_access(op, c_.placement.near, Direction::read, TensorClass::activations,
               partial_row() * parts);
    add_access(op, c_.placement.near, Direction::write, TensorClass::activations,
               result_row() * results);
    op.after = {after};
    return graph.add(std::move(op));
  }

  OpId add_all_gather(StepGraph& graph, int layer, OpId made, OpId ready) const {
    const Bytes size = exchanged_row(c_.model) * (c_.step.batch * c_.prompt);
    const OpId rows = exchange(graph, layer, CollectiveKind::all_gather, size, {made});
    return attend(graph, layer, c_.prompt - positions_of(own_), rows, ready);
  }

  OpId add_neighbours(StepGraph& graph, int layer, OpId made, OpId ready) const {
    const std::int64_t most = most_from_neighbours();
    if (most == 0) return attend(graph, layer, 0, made, ready);
    const Bytes size = exchanged_row(c_.model) * (c_.step.batch * most);
    const OpId rows = exchange(graph, layer, CollectiveKind::send, size, {made});
    return attend(graph, layer, from_neighbours(own_), rows, ready);
  }

  // The whole attention of the rank by one kernel, after it has received so many rows.
  OpId attend(StepGraph& graph, int layer, std::int64_t received, OpId rows, OpId ready) const {
    const LlmConfig& m = c_.model;
    PrefillBlock block{.queries = positions_of(own_),
                       .runs = static_cast<std::int64_t>(own_.size())};
    for (const PromptPiece& p : own_) {
      block.keys += p.count + rows_before(m, p.first);
      block.pairs += m.attended_pairs(p.end()) - m.attended_pairs(p.first);
    }
    block.keys = std::min(block.keys, own_.back().end());
    if (m.attention_chunk)  // each attends by itself
      block.runs = std::max(block.runs, block.queries / *m.attention_chunk);
    return add_prefill_block(graph, c_, layer, block,
                             {unpack(graph, layer, received, rows), ready});
  }

  // True where the rows that a piece attends to lie in it and the piece before it, on every rank.
  bool neighbours_suffice() const {
    const std::int64_t shortest = c_.prompt / c_.parallel.context_pieces();
    for (std::int64_t rank = 0; rank < ranks_; ++rank)
      for (const PromptPiece& p : pieces(rank))
        if (rows_before(c_.model, p.first) > shortest) return false;
    return true;
  }
  // Rows that come from other ranks: none for a piece that follows another one of the same rank.
  std::int64_t from_neighbours(const std::vector<PromptPiece>& own) const {
    std::int64_t sum = 0;
    std::int64_t end = 0;
    for (const PromptPiece& p : own) {
      if (p.first != end || end == 0) sum += rows_before(c_.model, p.first);
      end = p.end();
    }
    return sum;
  }
  std::int64_t most_from_neighbours() const {
    std::int64_t most = 0;
    for (std::int64_t rank = 0; rank < ranks_; ++rank)
      most = std::max(most, from_neighbours(pieces(rank)));
    return most;
  }

  // Keys and values of a head are sent to every rank that has some of its queries.
  std::int64_t sent_kv_heads() const { return std::max(c_.model.kv_heads, ranks_); }
  Bytes queries_and_rows() const {
    const LlmConfig& m = c_.model;
    return stored(m.query_width() + sent_kv_heads() * (m.head_dim + m.value_dim()), DataType::bf16);
  }
  OpId add_all_to_all(StepGraph& graph, int layer, OpId ready) const {
    const std::int64_t own = c_.step.batch * hop();
    const OpId there =
        exchange(graph, layer, CollectiveKind::all_to_all, queries_and_rows() * own, {ready});
    AttentionContext part = c_;
    part.step.context = std::exchange(part.prompt, 0);
    part.model.heads /= ranks_;
    part.model.kv_heads = sent_kv_heads() / ranks_;
    const OpId attended = add_prefill_attention(graph, part, layer, {}, {there});
    return exchange(graph, layer, CollectiveKind::all_to_all, result_row() * own, {attended});
  }

  const AttentionContext& c_;
  std::int64_t ranks_;
  std::int64_t rank_;
  std::vector<PromptPiece> own_;
  LatentForm form_;
};

}  // namespace

Bytes exchanged_row(const LlmConfig& model) {
  if (model.mla) return stored(model.mla->latent_width(), DataType::bf16);
  return stored(model.kv_heads * (model.head_dim + model.value_dim()), DataType::bf16);
}

OpId add_context_attention(StepGraph& graph, const AttentionContext& context, int layer, OpId made,
                           OpId ready) {
  return Exchange(context).add(graph, layer, made, ready);
}

Bytes context_buffers(const AttentionContext& context) {
  Bytes most;
  if (context.prompt == 0) return most;
  const LayerContexts contexts(context);
  for (const AttentionContext* c : contexts.all()) most = std::max(most, Exchange(*c).buffers());
  return most;
}

}  // namespace tiersim
