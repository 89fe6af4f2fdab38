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
        found_(c.prompt_found),
        form_(latent_form(c.step)) {}

  OpId add(StepGraph& graph, int layer, OpId made, OpId ready) const {
    const ContextExchange exchange = c_.parallel.exchange();
    if (exchange == ContextExchange::all_to_all) return add_all_to_all(graph, layer, ready);
    if (exchange == ContextExchange::ring && !sees_part(c_.model))
      return passes_queries() ? add_query_ring(graph, layer, made, ready)
                              : add_ring(graph, layer, made, ready);
    if (exchange == ContextExchange::ring && neighbours_suffice())
      return add_neighbours(graph, layer, made, ready);
    return add_all_gather(graph, layer, made, ready);
  }

  // Bytes of the buffers of one prompt.
  Bytes buffers() const {
    const ContextExchange exchange = c_.parallel.exchange();
    if (exchange == ContextExchange::all_to_all)
      return (queries_and_rows() + result_row()) * positions_of(own_) +
             found_rows() * c_.step.found();
    if (exchange == ContextExchange::ring && !sees_part(c_.model) && passes_queries())
      return query_hop() * 2 + partial_row() * (2 * partial_queries()) + unpacked(found_of(rank_));
    if (exchange == ContextExchange::ring && !sees_part(c_.model))
      return hop() * 2 + partial_row() * partial_queries() +
             unpacked(most_positions(c_.parallel, c_.prompt) + most_found());
    const std::int64_t rows = exchange == ContextExchange::ring && neighbours_suffice()
                                  ? most_from_neighbours()
                                  : c_.prompt;
    return exchanged_row(c_.model) * rows + found_row() * found_ + unpacked(rows + found_);
  }

 private:
  std::vector<PromptPiece> pieces(std::int64_t rank) const {
    return pieces_of(c_.parallel, c_.prompt, rank);
  }
  std::int64_t found_of(std::int64_t rank) const { return found_by(c_.parallel, found_, rank); }
  std::int64_t most_found() const { return found_of(0); }
  // One cached position, as it is kept.
  Bytes found_row() const { return KvShape(c_).row_pair() * c_.model.cached_heads(); }
  // Bytes that one sequence sends to the next rank in a step of the ring.
  Bytes hop() const {
    return exchanged_row(c_.model) * most_positions(c_.parallel, c_.prompt) +
           found_row() * most_found();
  }
  // The queries of one sequence, likewise.
  Bytes query_hop() const {
    return attended_query(c_.model, form_) * most_positions(c_.parallel, c_.prompt);
  }
  bool passes_queries() const {
    if (c_.parallel.ring() != ContextRing::by_bytes)
      return c_.parallel.ring() == ContextRing::pass_q;
    return query_hop() + partial_row() * most_positions(c_.parallel, c_.prompt) < hop();
  }
  Bytes result_row() const { return attended_result(c_.model, form_); }
  Bytes partial_row() const { return result_row() + kLogSum * c_.model.heads; }
  bool unpacks() const { return c_.model.mla && form_ == LatentForm::explicit_heads; }
  Bytes unpacked(std::int64_t rows) const {
    return unpacks() ? attended_row(c_.model, form_) * rows : Bytes{};
  }

  // The rank whose rows are there in a step of the ring.
  std::int64_t source(std::int64_t step) const { return (rank_ - step + ranks_) % ranks_; }
  PrefillBlock block(std::int64_t step) const { return block_of(own_, source(step), step); }
  // The queries of that rank and this rank's rows.
  PrefillBlock query_block(std::int64_t step) const {
    return block_of(pieces(source(step)), rank_, step);
  }
  // All queries attend to what was cached before.
  PrefillBlock block_of(const std::vector<PromptPiece>& queries, std::int64_t rows_of,
                        std::int64_t step) const {
    const PiecePairs met = piece_pairs(queries, pieces(rows_of));
    PrefillBlock out{
        .queries = met.queries, .keys = met.keys, .found = found_of(rows_of), .pairs = met.pairs};
    if (out.found > 0) {
      out.queries = positions_of(queries);
      out.pairs += out.queries * out.found;
    }
    const bool both = step > 0 && out.queries == positions_of(queries);
    out.runs = both ? std::ssize(queries) : 1;
    return out;
  }
  std::int64_t partial_queries() const {
    std::int64_t sum = 0;
    for (std::int64_t step = 0; step < ranks_; ++step) sum += block(step).queries;
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
    OpId rows = made;
    OpId before;  // attention of the step before
    for (std::int64_t step = 0; step < ranks_; ++step) {
      const OpId next = step + 1 == ranks_ ? OpId()
                                           : exchange(graph, layer, CollectiveKind::send,
                                                      hop() * c_.step.batch, {rows, before});
      if (const PrefillBlock met = block(step); met.pairs > 0) {
        // The rank's own rows are unpacked with its projections.
        const std::int64_t latents =
            found_of(source(step)) + (step == 0 ? 0 : positions_of(pieces(source(step))));
        const OpId read = unpack(graph, layer, latents, step == 0 ? ready : rows);
        before = add_prefill_block(graph, c_, layer, met, {read, before});
        add_access(graph.ops[before.index()], c_.placement.near, Direction::write,
                   TensorClass::activations, log_sums(met.queries));
      }
      rows = next;
    }
    return merge(graph, layer, before);
  }

  // The next queries travel beside the attention of these, and all results go back at the end.
  OpId add_query_ring(StepGraph& graph, int layer, OpId made, OpId ready) const {
    const OpId rows = unpack(graph, layer, found_of(rank_), ready);
    OpId queries = made;
    OpId before;  // attention of the step before
    std::int64_t answered = 0;
    for (std::int64_t step = 0; step < ranks_; ++step) {
      const OpId next = step + 1 == ranks_
                            ? OpId()
                            : exchange(graph, layer, CollectiveKind::send,
                                       query_hop() * c_.step.batch, {queries, before});
      if (const PrefillBlock met = query_block(step); met.pairs > 0) {
        before = add_prefill_block(graph, c_, layer, met, {queries, rows, before});
        add_access(graph.ops[before.index()], c_.placement.near, Direction::write,
                   TensorClass::activations, log_sums(met.queries));
        answered += met.queries;
      }
      queries = next;
    }
    const OpId back = exchange(graph, layer, CollectiveKind::all_to_all,
                               partial_row() * (c_.step.batch * answered), {before});
    return merge(graph, layer, back);
  }

  Bytes log_sums(std::int64_t queries) const {
    return kLogSum * (c_.step.batch * c_.model.heads * queries);
  }
  // A multiplication and an addition for each element of a partial result: as many as its bytes.
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
    const Bytes size = exchanged_row(c_.model) * c_.prompt + found_row() * found_;
    const OpId rows =
        exchange(graph, layer, CollectiveKind::all_gather, size * c_.step.batch, {made});
    return attend(graph, layer, c_.prompt - positions_of(own_) + found_, rows, ready);
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
      const std::int64_t before = rows_before(m, found_ + p.first);
      block.keys += p.count + std::min(before, p.first);
      block.found += std::max<std::int64_t>(0, before - p.first);
      block.pairs += m.attended_pairs(found_ + p.end()) - m.attended_pairs(found_ + p.first);
    }
    block.keys = std::min(block.keys, own_.back().end());
    block.found = std::min(block.found, found_);
    if (m.attention_chunk)  // each attends by itself
      block.runs = std::max(block.runs, block.queries / *m.attention_chunk);
    return add_prefill_block(graph, c_, layer, block,
                             {unpack(graph, layer, received, rows), ready});
  }

  // True where the rows that a piece attends to lie in it and the piece before it, on every rank.
  bool neighbours_suffice() const {
    if (found_ > 0) return false;
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
  // A cached position for the ranks that its heads go to.
  Bytes found_rows() const { return KvShape(c_).row_pair() * sent_kv_heads(); }
  OpId add_all_to_all(StepGraph& graph, int layer, OpId ready) const {
    const std::int64_t own = c_.step.batch * most_positions(c_.parallel, c_.prompt);
    const Bytes found = found_rows() * (c_.step.batch * most_found());
    const OpId there = exchange(graph, layer, CollectiveKind::all_to_all,
                                queries_and_rows() * own + found, {ready});
    AttentionContext part = c_;
    part.step.context = std::exchange(part.prompt, 0) + found_;
    if (found_ > 0) part.step.cached = found_;
    part.model.heads /= ranks_;
    part.model.kv_heads = sent_kv_heads() / ranks_;
    const OpId attended = add_prefill_attention(graph, part, layer, {}, {there});
    return exchange(graph, layer, CollectiveKind::all_to_all, result_row() * own, {attended});
  }

  const AttentionContext& c_;
  std::int64_t ranks_;
  std::int64_t rank_;
  std::vector<PromptPiece> own_;
  std::int64_t found_;  // cached positions of all ranks
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
