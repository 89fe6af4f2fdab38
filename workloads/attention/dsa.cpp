#include "workloads/attention/dsa.hpp"

#include <algorithm>

#include "workloads/attention/prefill.hpp"
#include "workloads/attention/row_fetch.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kScaled = 128;  // elements of an index key that share a scale
constexpr Bytes kIndexScale = Bytes::from_base(4);
constexpr Bytes kIndexScore = Bytes::from_base(4);

class Dsa final : public Method {
 public:
  void describe(Fields& f) override {
    f.optional("kv_tier", kv_tier_, kKvTierNames, "Where the latent rows live.");
    f.optional("fetch", fetch_, "How the chosen rows come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    if (!model.indexer)
      return {{"name", "model '" + model.name + "' has no indexer",
               "a model that has one (deepseek-v3.2, glm-5), or another method"}};
    return fetch_.problems(model, step, kv_tier_, [&](const KvShape& shape) {
      return RowChoice{.positions = std::min(shape.context, model.indexer->top_k)};
    });
  }

  bool screens() const override { return true; }
  bool runs_indexer() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    std::vector<CachedTensor> out = fetch_.cached(c, kv_tier_);
    out.push_back({TensorClass::index_keys, c.placement.near, KvShape(c).context, index_key(c),
                   c.step.batch});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    add_row_buffers(graph, c, rows(c));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    LayerInputs stored = in;
    stored.projected = add_store(graph, c, in.layer, cached(c), in.projected);
    if (!in.guessed()) stored.screen_after = stored.projected;
    ChosenRows chosen = rows(c);
    const std::int64_t queries = c.step.batch * c.new_positions();
    chosen.screen = [&](OpId after) {
      return choose(graph, c, in.layer,
                    {.queries = queries,
                     .pairs = queries * c.step.context,
                     .read = c.step.batch * c.step.context,
                     .chosen = chosen.choice.positions},
                    after);
    };
    const LayerOps made = add_chosen_rows(graph, c, stored, chosen);
    graph.ops[made.attended.index()].indexed = indexed(c, IndexedPart::attention);
    return made;
  }

  // Queries attend to as many positions as under a window of top_k, though not to the same.
  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    const std::vector<CachedTensor> kept = cached(c);
    const OpId stored_near = add_store(graph, c, in.layer, kept, in.projected);
    const std::int64_t top_k = c.model.indexer->top_k;
    const std::int64_t queries = c.step.batch * c.new_positions();
    const OpId chosen = choose(graph, c, in.layer,
                               {.queries = queries,
                                .pairs = causal_pairs(c),
                                .read = queries + c.step.batch * positions_before(c),
                                .chosen = top_k},
                               stored_near);
    const OpId attended = add_sparse_prefill_attention(graph, c, in.layer, top_k, kept, {chosen});
    graph.ops[attended.index()].indexed = indexed(c, IndexedPart::attention);
    return {.attended = attended, .fetched = {}};
  }

 private:
  /// Work of a choice, over all sequences.
  struct Choice {
    std::int64_t queries = 0;
    std::int64_t pairs = 0;   ///< of a query and a position that it scores
    std::int64_t read = 0;    ///< index keys
    std::int64_t chosen = 0;  ///< positions of a query
  };

  Bytes index_key(const AttentionContext& c) const {
    const std::int64_t width = c.model.indexer->head_dim;
    return stored(width, DataType::fp8) + kIndexScale * ((width + kScaled - 1) / kScaled);
  }
  ChosenRows rows(const AttentionContext& c) const {
    const std::int64_t context = KvShape(c).context;
    return {.fetch = fetch_,
            .tier = kv_tier_,
            .choice = {.positions = std::min(context, c.model.indexer->top_k)}};
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
            .kv_bits = bits(c.step.kv_type)};
  }

  // The products of the indexer, its scores, and the choice by them.
  OpId choose(StepGraph& graph, const AttentionContext& c, int layer, const Choice& choice,
              OpId after) const {
    const IndexerConfig& indexer = *c.model.indexer;
    const TierId near = c.placement.near;
    after = LayerOpsBuilder(c, graph, choice.queries)
                .products(Phase::screening, layer,
                          indexer.projections(c.model.hidden, c.model.mla->q_lora_rank), after);
    Op score{.phase = Phase::screening,
             .layer = layer,
             .family = KernelFamily::screening,
             .arithmetic = Arithmetic::fp8,
             .flops = Flops::from_base(2 * indexer.heads * indexer.head_dim) * choice.pairs,
             .indexed = indexed(c, IndexedPart::scores)};
    add_access(score, near, Direction::read, TensorClass::index_keys, index_key(c) * choice.read);
    add_access(score, near, Direction::read, TensorClass::activations,
               stored(choice.queries * indexer.heads * indexer.head_dim, DataType::fp8));
    add_access(score, near, Direction::write, TensorClass::activations, kIndexScore * choice.pairs);
    score.after = {after};
    const OpId scored = graph.add(std::move(score));
    Op pick{.phase = Phase::screening,
            .layer = layer,
            .family = KernelFamily::screening,
            .flops = {},
            .indexed = indexed(c, IndexedPart::choice)};
    add_access(pick, near, Direction::read, TensorClass::activations, kIndexScore * choice.pairs);
    add_access(pick, near, Direction::write, TensorClass::indices,
               kIndexScore * (choice.queries * choice.chosen));
    pick.after = {scored};
    return graph.add(std::move(pick));
  }

  KvTier kv_tier_ = KvTier::near;
  RowFetch fetch_;
};

}  // namespace

void register_dsa(Registry<MethodKind>& registry) {
  registry.add("dsa",
               {"DeepSeek sparse attention: the model's indexer chooses the rows that are read",
                []() -> std::unique_ptr<Method> { return std::make_unique<Dsa>(); }});
}

}  // namespace tiersim
