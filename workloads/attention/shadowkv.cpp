#include "workloads/attention/shadowkv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/attention/prefill.hpp"
#include "workloads/attention/row_fetch.hpp"

namespace tiersim {
namespace {

class ShadowKv final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that a step chooses, in whole chunks.",
               fraction());
    f.required("rank", rank_, "Elements of a position's row, which stands for its keys.",
               in_range(1, 65'536));
    f.optional("chunk", chunk_, "Positions of a chunk, which are chosen together.",
               in_range(1, 65'536));
    f.optional("outliers", outliers_, "Chunks of each KV head that stay in the near tier.",
               in_range(0, 1'000'000));
    f.optional("local", local_, "Newest chunks, which stay in the near tier.",
               in_range(1, 1'000'000));
    f.optional("fetch", fetch_, "How the chosen values come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, KvTier::far, [this](const KvShape& shape) { return choice(shape); });
    if (fetch_.page != 1)
      out.push_back({"fetch.page", "has no effect where chunks are chosen", "set chunk instead"});
    if (!fetch_.near_key().empty())
      out.push_back({"fetch." + fetch_.near_key(),
                     "is not known where keys and values lie in two tiers",
                     "more outliers or a longer window: outliers, local"});
    // A model with an indexer is refused by itself.
    if (model.caches_latents() && !model.indexer)
      out.push_back({"rank",
                     "is of keys of heads, and the model caches latents, which have a low "
                     "rank already",
                     "take maple, quest or sparq"});
    else if (!model.caches_latents() && rank_ > keys_of(model))
      out.push_back({"rank",
                     fmt::format("{} exceeds the {} elements of the model's keys of a position",
                                 rank_, keys_of(model)),
                     ""});
    return out;
  }

  bool screens() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    std::vector<CachedTensor> out{{.tensor_class = TensorClass::keys,
                                   .tier = near,
                                   .positions = shape.context,
                                   .piece = factor_row(shape),
                                   .pieces = c.step.batch,
                                   .own_kernel = true},
                                  {.tensor_class = TensorClass::landmarks,
                                   .tier = near,
                                   .positions = whole_chunks(shape.context),
                                   .piece = shape.key_row(),
                                   .pieces = shape.sequences,
                                   .covers = chunk_},
                                  {.tensor_class = TensorClass::states,
                                   .tier = near,
                                   .positions = 1,
                                   .piece = state(shape),
                                   .pieces = shape.sequences,
                                   .own_kernel = true}};
    if (shape.value_width > 0)
      out.push_back({.tensor_class = TensorClass::values,
                     .tier = c.placement.far,
                     .positions = shape.context,
                     .piece = shape.value_row(),
                     .pieces = shape.sequences});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    add_row_buffers(graph, c, rows(KvShape(c)));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    LayerInputs stored = in;
    stored.projected = add_store(graph, c, in.layer, cached(c), in.projected);
    stored.projected = add_new_rows(c, in.layer, stored.projected, graph);
    if (!in.guessed()) stored.screen_after = stored.projected;
    ChosenRows chosen = rows(KvShape(c));
    chosen.screen = [&](OpId after) { return screen(c, in.layer, after, graph); };
    chosen.make_keys = [&](std::int64_t positions, OpId after) {
      const KvShape shape(c);
      return make_keys(c, in.layer,
                       {.gathered = positions * shape.sequences,
                        .run = std::min(positions, chunk_),
                        .made = positions},
                       after, graph);
    };
    return add_chosen_rows(graph, c, stored, chosen);
  }

  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    const std::vector<CachedTensor> kept = cached(c);
    const OpId stored_near = add_store(graph, c, in.layer, kept, in.projected);
    factorise(c, in.layer, in.projected, graph);
    OpIds ready{stored_near};
    if (const std::int64_t before = positions_before(c); before > 0)
      ready.push_back(make_keys(c, in.layer,
                                {.gathered = before * c.step.batch, .run = before, .made = before},
                                stored_near, graph));
    return {.attended = add_prefill_attention(graph, c, in.layer, kept, ready), .fetched = {}};
  }

 private:
  /// Keys that are made from their rows.
  struct MadeKeys {
    std::int64_t gathered = 0;  ///< rows of the factor that are read, over the batch
    std::int64_t run = 1;       ///< of adjacent ones
    std::int64_t made = 0;      ///< positions of each sequence and KV head
  };

  static std::int64_t keys_of(const LlmConfig& model) {
    return model.cached_heads() * model.key_width();
  }
  std::int64_t whole_chunks(std::int64_t positions) const {
    return (positions + chunk_ - 1) / chunk_;
  }
  std::int64_t kept_beside() const { return (outliers_ + local_) * chunk_; }
  std::int64_t beside(const KvShape& shape) const { return std::min(shape.context, kept_beside()); }
  std::int64_t candidates(const KvShape& shape) const {
    return whole_chunks(shape.context - beside(shape));
  }
  RowChoice choice(const KvShape& shape) const {
    return {.positions = std::min(shape.chosen(budget_), shape.context - beside(shape)),
            .block = chunk_,
            .beside = beside(shape)};
  }
  ChosenRows rows(const KvShape& shape) const {
    const std::int64_t near = beside(shape);
    return {.fetch = fetch_,
            .choice = choice(shape),
            .beside = {.positions = near,
                       .parts = {{TensorClass::states, shape.both(near), shape.both(near)}}}};
  }

  Bytes factor_row(const KvShape& shape) const { return cached_row(rank_, 0, shape.type); }
  // The basis for one KV head of a sequence in one layer.
  Bytes basis(const KvShape& shape) const { return shape.key_row() * rank_; }
  Bytes state(const KvShape& shape) const {
    return basis(shape) + shape.row_pair() * kept_beside();
  }

  // The row of the factor for the keys of new positions, whose keys and values enter the newest
  // chunks.
  OpId add_new_rows(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const std::int64_t tokens = c.step.batch * c.new_positions();
    const Bytes own = shape.both(std::min(c.new_positions(), shape.context));
    Op op{.phase = Phase::write_back,
          .layer = layer,
          .family = KernelFamily::gemm,
          .flops = Flops::from_base(2 * rank_ * keys_of(c.model)) * tokens,
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::states, basis(shape) * shape.sequences);
    add_access(op, near, Direction::read, TensorClass::activations, own);
    add_access(op, near, Direction::write, TensorClass::keys, factor_row(shape) * tokens);
    add_access(op, near, Direction::write, TensorClass::states, own);
    return graph.add(std::move(op));
  }

  OpId screen(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const KvShape shape(c);
    const std::int64_t chunks = candidates(shape);
    if (chunks == 0) return after;
    const Bytes run = shape.key_row() * chunks;
    return add_screening(
        graph, c, layer,
        {.read = {TensorClass::landmarks, run * shape.sequences, run},
         .flops = Flops::from_base(2 * shape.key_width) * (shape.query_heads * chunks),
         .listed = fetch_.counts(shape, choice(shape)).listed,
         .after = after});
  }

  OpId make_keys(const AttentionContext& c, int layer, const MadeKeys& keys, OpId after,
                 StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    Op op{.phase = Phase::gather,
          .layer = layer,
          .family = KernelFamily::gemm,
          .flops = Flops::from_base(2 * rank_ * shape.key_width) * (shape.sequences * keys.made),
          .after = {after}};
    add_access(
        op, near, Direction::read,
        {TensorClass::keys, factor_row(shape) * keys.gathered, factor_row(shape) * keys.run});
    add_access(op, near, Direction::read, TensorClass::states, basis(shape) * shape.sequences);
    add_access(op, near, Direction::write, TensorClass::staging, shape.keys(keys.made));
    return graph.add(std::move(op));
  }

  void factorise(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const std::int64_t tokens = c.step.batch * c.new_positions();
    const std::int64_t kept = c.step.batch * std::min(c.new_positions(), shape.context);
    const auto prompts = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.chunks.size()));
    const std::int64_t width = keys_of(c.model);
    Op op{.phase = Phase::write_back,
          .layer = layer,
          .family = KernelFamily::gemm,
          .flops = Flops::from_base(6 * width * width) * tokens,
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::activations,
               stored(tokens * width, DataType::bf16));
    add_access(op, near, Direction::write, TensorClass::keys, factor_row(shape) * kept);
    add_access(op, near, Direction::write, TensorClass::states,
               state(shape) * (shape.sequences * prompts));
    graph.add(std::move(op));
  }

  double budget_ = 0;
  std::int64_t rank_ = 160;
  std::int64_t chunk_ = 8;
  std::int64_t outliers_ = 48;
  std::int64_t local_ = 4;
  RowFetch fetch_;
};

}  // namespace

void register_shadowkv(Registry<MethodKind>& registry) {
  registry.add("shadowkv",
               {"screen by the mean key of each chunk, make keys from low-rank rows, fetch values",
                []() -> std::unique_ptr<Method> { return std::make_unique<ShadowKv>(); }});
}

}  // namespace tiersim
