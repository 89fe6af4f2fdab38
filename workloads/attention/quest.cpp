#include "workloads/attention/quest.hpp"

#include <fmt/format.h>

#include "workloads/attention/row_fetch.hpp"

namespace tiersim {
namespace {

class Quest final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that attention reads.", fraction());
    f.optional("page", page_, "Positions of a page.", in_range(1, 65'536));
    f.optional("kv_tier", kv_tier_, kKvTierNames, "Where keys and values live.");
    f.optional("bounds_tier", bounds_tier_, kKvTierNames, "Where the bounds of the pages live.");
    f.optional("dense_layers", dense_layers_, "First layers that read every row.",
               in_range(0, 1000));
    f.optional("fetch", fetch_, "How the chosen pages come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, kv_tier_, [this](const KvShape& shape) { return choice(shape); });
    if (fetch_.page != 1 && kv_tier_ == KvTier::far)
      out.push_back({"fetch.page", "has no effect where pages are chosen", "set page instead"});
    if (dense_layers_ > model.layers)
      out.push_back(
          {"dense_layers",
           fmt::format("{} exceeds its layers: model has {}", dense_layers_, model.layers),
           "0 to the model's layers"});
    return out;
  }

  bool screens() const override { return true; }
  std::int64_t near_rows() const override { return fetch_.near_rows; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    std::vector<CachedTensor> out = fetch_.cached(c, kv_tier_);
    out.push_back({TensorClass::page_bounds, tier_of(c, bounds_tier_), pages(shape),
                   shape.key_row() * 2, shape.sequences});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    add_row_buffers(
        graph, c, rows(shape),
        dense_layers_ > 0 ? shape.both(shape.context - fetch_.near_positions(shape)) : Bytes{});
    if (bounds_tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near, bounds(shape).payload);
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const OpId kept = add_store(graph, c, in.layer, cached(c), in.projected);
    if (in.layer < dense_layers_)
      return add_whole_attention(graph, c, in.layer,
                                 {.tier = kv_tier_,
                                  .near_positions = fetch_.near_positions(KvShape(c)),
                                  .by = fetch_.by,
                                  .fetch_after = in.in_copy_order(in.projected),
                                  .ready = kept});
    // Unless the query is guessed, screening sees the new row in the bounds of its page.
    LayerInputs stored = in;
    stored.projected = kept;
    if (!in.guessed()) stored.screen_after = kept;
    ChosenRows chosen = rows(KvShape(c));
    chosen.screen = [&](OpId after) { return screen(c, stored, after, graph); };
    return add_chosen_rows(graph, c, stored, chosen);
  }

 private:
  std::int64_t pages(const KvShape& shape) const { return (shape.context + page_ - 1) / page_; }
  RowChoice choice(const KvShape& shape) const {
    return {.positions = shape.chosen(budget_), .block = page_};
  }
  ChosenRows rows(const KvShape& shape) const {
    return {.fetch = fetch_, .tier = kv_tier_, .choice = choice(shape)};
  }
  // Bounds of every page; those of a sequence are one run.
  Part bounds(const KvShape& shape) const {
    const Bytes run = shape.key_row() * (2 * pages(shape));
    return {TensorClass::page_bounds, run * shape.sequences, run};
  }

  OpId screen(const AttentionContext& c, const LayerInputs& in, OpId after,
              StepGraph& graph) const {
    const KvShape shape(c);
    Part read = bounds(shape);
    if (bounds_tier_ == KvTier::far) {
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
         .flops = Flops::from_base(4 * shape.key_width) * (shape.query_heads * pages(shape)),
         .listed = fetch_.counts(shape, choice(shape)).listed,
         .after = after});
  }

  double budget_ = 0;
  std::int64_t page_ = 16;
  KvTier kv_tier_ = KvTier::far;
  KvTier bounds_tier_ = KvTier::near;
  std::int64_t dense_layers_ = 2;
  RowFetch fetch_;
};

}  // namespace

void register_quest(Registry<MethodKind>& registry) {
  registry.add("quest",
               {"screen by the smallest and largest key of each page, then read whole pages",
                []() -> std::unique_ptr<Method> { return std::make_unique<Quest>(); }});
}

}  // namespace tiersim
