#include "workloads/attention/loki.hpp"

#include <fmt/format.h>

#include "workloads/attention/row_fetch.hpp"

namespace tiersim {
namespace {

class Loki final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that attention reads.", fraction());
    f.required("rank", rank_, "First elements of each key row that screening reads.",
               in_range(1, 4096));
    f.optional("kv_tier", kv_tier_, kKvTierNames, "Where keys and values live.");
    f.optional("fetch", fetch_, "How the chosen rows come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, kv_tier_, [this](const KvShape& shape) { return choice(shape); });
    if (kv_tier_ == KvTier::far && !fetch_.near_key().empty())
      out.push_back({"fetch." + fetch_.near_key(),
                     "is not known for screening by parts of the keys",
                     "leave it out, or take maple or quest"});
    if (rank_ > model.key_width())
      out.push_back({"rank",
                     fmt::format("{} exceeds the {} elements of the model's key rows", rank_,
                                 model.key_width()),
                     ""});
    return out;
  }

  bool screens() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return fetch_.cached(c, kv_tier_);
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    add_tensor(graph, TensorClass::weights, c.placement.near, basis(c) * c.model.layers);
    add_row_buffers(graph, c, rows(shape));
    if (kv_tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near, prefixes(shape).payload);
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    LayerInputs turned = in;
    if (in.guessed())
      turned.screen_after = turn(c, in.layer, in.screen_after, Turned::query, graph);
    turned.projected = turn(c, in.layer, in.projected, Turned::query_and_key, graph);
    turned.projected = add_store(graph, c, in.layer, cached(c), turned.projected);
    if (!in.guessed()) turned.screen_after = turned.projected;
    ChosenRows chosen = rows(KvShape(c));
    chosen.screen = [&](OpId after) { return screen(c, turned, after, graph); };
    return add_chosen_rows(graph, c, turned, chosen);
  }

  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    LayerInputs turned = in;
    turned.projected = turn(c, in.layer, in.projected, Turned::query_and_key, graph);
    return Method::add_prefill_layer(c, turned, graph);
  }

 private:
  enum class Turned : std::uint8_t { query, query_and_key };

  RowChoice choice(const KvShape& shape) const { return {.positions = shape.chosen(budget_)}; }
  ChosenRows rows(const KvShape& shape) const {
    return {.fetch = fetch_, .tier = kv_tier_, .choice = choice(shape)};
  }
  // The part of the keys that screening reads.
  Part prefixes(const KvShape& shape) const {
    const Bytes run = stored(rank_, shape.type);
    return {TensorClass::keys, run * (shape.sequences * shape.context), run};
  }
  // Basis matrices of one layer.
  Bytes basis(const AttentionContext& c) const {
    const std::int64_t width = c.model.key_width();
    return stored(c.model.cached_heads() * width * width, c.step.weight_type);
  }

  OpId turn(const AttentionContext& c, int layer, OpId after, Turned what, StepGraph& graph) const {
    const TierId near = c.placement.near;
    const std::int64_t width = c.model.key_width();
    const std::int64_t keys = what == Turned::query_and_key ? c.model.cached_heads() : 0;
    const std::int64_t vectors = (c.model.heads + keys) * c.step.batch * c.new_positions();
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::gemm,
          .arithmetic = c.execution.arithmetic(c.step.weight_type),
          .flops = Flops::from_base(2 * width * width) * vectors};
    add_access(op, near, Direction::read, TensorClass::weights, basis(c));
    add_access(op, near, Direction::read, TensorClass::activations,
               stored(width, DataType::bf16) * vectors);
    add_access(op, near, Direction::write, TensorClass::activations,
               stored(width, DataType::bf16) * vectors);
    op.after = {after};
    return graph.add(std::move(op));
  }

  OpId screen(const AttentionContext& c, const LayerInputs& in, OpId after,
              StepGraph& graph) const {
    const KvShape shape(c);
    Part read = prefixes(shape);
    if (kv_tier_ == KvTier::far) {
      after = add_fetch(graph, c, in.layer,
                        {.phase = Phase::screening,
                         .by = fetch_.by,
                         .parts = {read},
                         .after = in.in_copy_order(after)});
      read = {TensorClass::staging, read.payload, read.payload};
    }
    return add_screening(
        graph, c, in.layer,
        {.read = read,
         .flops = Flops::from_base(2 * rank_) * (shape.query_heads * shape.context),
         .listed = fetch_.counts(shape, choice(shape)).listed,
         .after = after});
  }

  double budget_ = 0;
  std::int64_t rank_ = 0;
  KvTier kv_tier_ = KvTier::far;
  RowFetch fetch_;
};

}  // namespace

void register_loki(Registry<MethodKind>& registry) {
  registry.add("loki", {"screen by the leading principal components of the keys, then read rows",
                        []() -> std::unique_ptr<Method> { return std::make_unique<Loki>(); }});
}

}  // namespace tiersim
