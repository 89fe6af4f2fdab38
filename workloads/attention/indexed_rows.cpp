#include "workloads/attention/indexed_rows.hpp"

#include <algorithm>

#include "workloads/attention/prefill.hpp"
#include "workloads/attention/row_fetch.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

constexpr Bytes kIndexScore = Bytes::from_base(4);  // and an entry of a list

/// Work of a choice, over all sequences.
struct IndexChoice {
  std::int64_t queries = 0;
  std::int64_t pairs = 0;   ///< of a query and a position that an index head scores
  std::int64_t scores = 0;  ///< of those that are kept, of all heads
  std::int64_t read = 0;    ///< index keys
  std::int64_t listed = 0;  ///< entries of all lists
};

// Blocks that the queries at the first n positions of a sequence see, together.
std::int64_t seen_blocks(std::int64_t n, std::int64_t block) {
  const std::int64_t full = n / block;
  return block * (full * (full + 1) / 2) + n % block * (full + 1);
}

std::int64_t whole_blocks(std::int64_t positions, std::int64_t block) {
  return (positions + block - 1) / block;
}

class IndexedRows final : public Method {
 public:
  explicit IndexedRows(IndexerKind kind) : kind_(kind) {}

  void describe(Fields& f) override {
    f.optional(
        "kv_tier", kv_tier_, kKvTierNames,
        kind_ == IndexerKind::dsa ? "Where the latent rows live." : "Where keys and values live.");
    f.optional("fetch", fetch_, "How the chosen rows come from the far tier.");
    f.optional("draft_overlap", fetch_.draft_overlap,
               "Share of a position's chosen rows that the next drafted position chooses, too; "
               "left out, fetch.hot_rows.overlap, or 0 without one.",
               in_range(0.0, 1.0));
    f.check(!fetch_.draft_overlap || !fetch_.hot_rows || !fetch_.hot_rows->overlap, "draft_overlap",
            "cannot stand beside fetch.hot_rows.overlap, which says the same", "give one of them");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out =
        fetch_.problems(model, step, kv_tier_, [&](const KvShape& shape) {
          return model.indexer ? choice_of(*model.indexer, shape.context)
                               : RowChoice{.positions = shape.context};
        });
    if (kv_tier_ == KvTier::near && fetch_.draft_overlap)
      out.push_back({"draft_overlap",
                     "has no effect on rows in the near tier, of which each position reads its own",
                     "leave it out, or set kv_tier: far"});
    return out;
  }
  std::vector<MethodProblem> problems_without_drafts() const override {
    if (!fetch_.draft_overlap) return {};
    return {{"draft_overlap", "has no effect where nothing is drafted",
             "leave it out, or give speculation"}};
  }

  bool screens() const override { return true; }
  std::int64_t near_rows() const override { return fetch_.near_rows; }
  bool verifies_drafts() const override { return true; }
  std::optional<IndexerKind> runs_indexer() const override { return kind_; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    std::vector<CachedTensor> out = fetch_.cached(c, kv_tier_);
    if (has_own_index(c))
      out.push_back({TensorClass::index_keys, c.placement.near, KvShape(c).context,
                     c.model.indexer->key(), c.step.batch});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    if (has_own_index(c)) return add_row_buffers(graph, c, rows(c));
    const KvShape shape(c);
    if (c.model.indexer) {  // staging and list are those of the layers that choose
      const std::int64_t block = c.model.indexer->block;
      return add_tensor(graph, TensorClass::row_cache, c.placement.near,
                        shape.both(fetch_.cache_blocks(shape, block) * block) * c.model.layers);
    }
    if (kv_tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near,
                 shape.both(shape.context - fetch_.near_positions(shape)));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    LayerInputs stored = in;
    stored.projected = add_store(graph, c, in.layer, cached(c), in.projected);
    if (!c.model.indexer) return attend_to_all(c, in, stored.projected, graph);
    if (!in.guessed()) stored.screen_after = stored.projected;
    ChosenRows chosen = rows(c);
    chosen.screen = [&](OpId after) {
      return has_own_index(c) ? choose(graph, c, in.layer, choice_of_step(c), after) : after;
    };
    const LayerOps made = add_chosen_rows(graph, c, stored, chosen);
    graph.ops[made.attended.index()].indexed = indexed(c, IndexedPart::attention);
    return made;
  }

  // Queries attend to as many positions as under a window of top_k, though not to the same.
  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    if (!c.model.indexer) return Method::add_prefill_layer(c, in, graph);
    const std::vector<CachedTensor> kept = cached(c);
    const OpId stored_near = add_store(graph, c, in.layer, kept, in.projected);
    const OpId chosen = has_own_index(c)
                            ? choose(graph, c, in.layer, choice_of_prompt(c), stored_near)
                            : stored_near;
    const OpId attended = add_sparse_prefill_attention(
        graph, c, in.layer, c.model.indexer->top_k,
        kind_ == IndexerKind::dsa ? SparseReads::each_query : SparseReads::once, kept, {chosen});
    graph.ops[attended.index()].indexed = indexed(c, IndexedPart::attention);
    return {.attended = attended, .fetched = {}};
  }

 private:
  static bool has_own_index(const AttentionContext& c) {
    return c.model.indexer && !c.model.indexer->shared;
  }
  static RowChoice choice_of(const IndexerConfig& indexer, std::int64_t context) {
    return {.positions = std::min(context, indexer.top_k), .block = indexer.block};
  }
  ChosenRows rows(const AttentionContext& c) const {
    return {.fetch = fetch_,
            .tier = kv_tier_,
            .choice = choice_of(*c.model.indexer, KvShape(c).context),
            .shared = !has_own_index(c)};
  }

  LayerOps attend_to_all(const AttentionContext& c, const LayerInputs& in, OpId ready,
                         StepGraph& graph) const {
    return add_whole_attention(
        graph, c, in.layer,
        {.tier = kv_tier_,
         .near_positions = kv_tier_ == KvTier::far ? fetch_.near_positions(KvShape(c)) : 0,
         .by = fetch_.by,
         .fetch_after = in.in_copy_order(in.projected),
         .ready = ready});
  }

  // Under dsa all heads make one score of a position and one list of positions.
  IndexChoice choice_of_step(const AttentionContext& c) const {
    const IndexerConfig& indexer = *c.model.indexer;
    const std::int64_t queries = c.step.batch * c.new_positions();
    const std::int64_t context = c.step.context;
    const std::int64_t lists = kind_ == IndexerKind::dsa ? 1 : indexer.heads;
    const std::int64_t chosen = std::min(KvShape(c).context, indexer.top_k);
    return {.queries = queries,
            .pairs = queries * context,
            .scores = queries * lists * whole_blocks(context, indexer.block),
            .read = c.step.batch * context,
            .listed = queries * lists * whole_blocks(chosen, indexer.block)};
  }
  IndexChoice choice_of_prompt(const AttentionContext& c) const {
    const IndexerConfig& indexer = *c.model.indexer;
    const std::int64_t queries = c.step.batch * c.new_positions();
    const std::int64_t pairs = causal_pairs(c);
    const std::int64_t lists = kind_ == IndexerKind::dsa ? 1 : indexer.heads;
    return {.queries = queries,
            .pairs = pairs,
            .scores = kind_ == IndexerKind::dsa ? pairs : lists * seen_in_prompt(c),
            .read = queries + c.step.batch * positions_before(c),
            .listed = queries * lists * (indexer.top_k / indexer.block)};
  }
  // Over all sequences, or all chunks.
  static std::int64_t seen_in_prompt(const AttentionContext& c) {
    const std::int64_t block = c.model.indexer->block;
    if (c.chunks.empty()) return c.step.batch * seen_blocks(c.step.context, block);
    std::int64_t sum = 0;
    for (const auto& [tokens, before] : c.chunks)
      sum += seen_blocks(before + tokens, block) - seen_blocks(before, block);
    return c.step.batch * sum;
  }

  // In the mean of all sequences, or of all chunks of prompts.
  static IndexedShape indexed(const AttentionContext& c, IndexedPart part) {
    const auto chunks = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.chunks.size()));
    const bool decode = c.step.kind == StepKind::decode;
    const std::int64_t tokens =
        std::max<std::int64_t>(1, (decode ? c.new_positions() : c.step.context) / chunks);
    return {.part = part,
            .sequences = c.step.batch * chunks,
            .tokens = tokens,
            .before = decode ? std::max<std::int64_t>(0, c.step.context - tokens)
                             : positions_before(c) / chunks,
            .heads = c.model.heads,
            .index_heads = c.model.indexer->heads,
            .top_k = c.model.indexer->top_k,
            .block = c.model.indexer->block,
            .kv_bits = bits(c.step.kv_type)};
  }

  // The products of the indexer, its scores, and the choice by them.
  OpId choose(StepGraph& graph, const AttentionContext& c, int layer, const IndexChoice& choice,
              OpId after) const {
    const IndexerConfig& indexer = *c.model.indexer;
    const bool in_fp8 = kind_ == IndexerKind::dsa && indexer.stored_type() != DataType::bf16;
    const TierId near = c.placement.near;
    after = LayerOpsBuilder(c, graph, choice.queries)
                .products(Phase::screening, layer, c.model.index_projections(), after);
    Op score{
        .phase = Phase::screening,
        .layer = layer,
        .family = KernelFamily::screening,
        .arithmetic = in_fp8 ? Arithmetic::fp8 : Arithmetic::bf16,
        .flops = Flops::from_base(2 * indexer.heads * indexer.head_dim) * choice.pairs,
        .indexed = indexer.has_timed_keys() ? indexed(c, IndexedPart::scores) : IndexedShape{}};
    add_access(score, near, Direction::read, TensorClass::index_keys, indexer.key() * choice.read);
    add_access(score, near, Direction::read, TensorClass::activations,
               stored(choice.queries * indexer.heads * indexer.head_dim,
                      in_fp8 ? DataType::fp8 : DataType::bf16));
    add_access(score, near, Direction::write, TensorClass::activations,
               kIndexScore * choice.scores);
    score.after = {after};
    const OpId scored = graph.add(std::move(score));
    Op pick{.phase = Phase::screening,
            .layer = layer,
            .family = KernelFamily::screening,
            .flops = {},
            .indexed = indexed(c, IndexedPart::choice)};
    add_access(pick, near, Direction::read, TensorClass::activations, kIndexScore * choice.scores);
    add_access(pick, near, Direction::write, TensorClass::indices, kIndexScore * choice.listed);
    pick.after = {scored};
    return graph.add(std::move(pick));
  }

  IndexerKind kind_;
  KvTier kv_tier_ = KvTier::near;
  RowFetch fetch_;
};

}  // namespace

std::unique_ptr<Method> make_indexed_rows(IndexerKind kind) {
  return std::make_unique<IndexedRows>(kind);
}

}  // namespace tiersim
