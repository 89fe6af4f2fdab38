#include "workloads/attention/infinigen.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/attention/expected_rows.hpp"
#include "workloads/attention/row_fetch.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim {
namespace {

class InfiniGen final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that is fetched.", fraction());
    f.optional("partial", partial_, "Share of a key's elements that screening reads.", fraction());
    f.optional("dense_layers", dense_layers_, "First layers that read every row.",
               in_range(0, 1000));
    f.optional("fetch", fetch_, "How the chosen rows come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, KvTier::far, [this](const KvShape& shape) { return choice(shape); });
    // A model with an indexer is refused by itself.
    if (model.mla && !model.indexer)
      out.push_back({"partial", "is of queries and keys of heads, and the model makes latents",
                     "take maple, quest or sparq"});
    else if (!model.mla && model.head_dim > 0 && columns(model) == 0)
      out.push_back({"partial", fmt::format("{} of {} elements is none", partial_, model.head_dim),
                     "a larger share"});
    if (dense_layers_ > model.layers)
      out.push_back(
          {"dense_layers",
           fmt::format("{} exceeds its layers: model has {}", dense_layers_, model.layers),
           "0 to the model's layers"});
    return out;
  }

  bool screens() const override { return true; }
  std::int64_t near_rows() const override { return fetch_.near_rows; }

  std::vector<Product> guess_products(const LlmConfig& model) const override {
    return {partial_query(model)};
  }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    std::vector<CachedTensor> out = fetch_.cached(c, KvTier::far);
    out.push_back({TensorClass::lowrank_keys, c.placement.near, shape.context, partial_row(c),
                   shape.sequences});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    add_tensor(graph, TensorClass::weights, c.placement.near, partial_weights(c) * c.model.layers);
    add_row_buffers(
        graph, c, rows(shape),
        dense_layers_ > 0 ? shape.both(shape.context - fetch_.near_positions(shape)) : Bytes{});
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const OpId kept = add_store(graph, c, in.layer, cached(c), in.projected);
    if (in.layer < dense_layers_)
      return add_whole_attention(graph, c, in.layer,
                                 {.near_positions = fetch_.near_positions(KvShape(c)),
                                  .by = fetch_.by,
                                  .fetch_after = in.in_copy_order(in.projected),
                                  .ready = kept});
    LayerInputs stored = in;
    stored.projected = kept;
    if (!in.guessed()) stored.screen_after = kept;
    ChosenRows chosen = rows(KvShape(c));
    chosen.screen = [&](OpId after) { return screen(c, in.layer, after, graph); };
    return add_chosen_rows(graph, c, stored, chosen);
  }

  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    choose_columns(c, in.layer, in.projected, graph);
    return Method::add_prefill_layer(c, in, graph);
  }

 private:
  RowChoice choice(const KvShape& shape) const { return {.positions = shape.chosen(budget_)}; }
  ChosenRows rows(const KvShape& shape) const { return {.fetch = fetch_, .choice = choice(shape)}; }
  std::int64_t columns(const LlmConfig& model) const {
    return whole_down(partial_ * static_cast<double>(model.key_width()));
  }
  Product partial_query(const LlmConfig& model) const {
    return full_product(model.hidden, model.heads * columns(model));
  }
  Bytes partial_row(const AttentionContext& c) const {
    return cached_row(columns(c.model), 0, c.step.kv_type);
  }
  // Of one layer.
  Bytes partial_weights(const AttentionContext& c) const {
    return stored(partial_query(c.model).weights,
                  c.step.weight_types.of(WeightPart::q, c.step.weight_type));
  }

  OpId screen(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const KvShape shape(c);
    const Bytes run = partial_row(c) * shape.context;
    return add_screening(
        graph, c, layer,
        {.read = {TensorClass::lowrank_keys, run * shape.sequences, run},
         .flops = Flops::from_base(2 * columns(c.model)) * (shape.query_heads * shape.context),
         .listed = fetch_.counts(shape, choice(shape)).listed,
         .after = after});
  }

  // Reads the queries of a prompt, and copies the chosen columns of the weights.
  void choose_columns(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const TierId near = c.placement.near;
    const std::int64_t elements = c.step.batch * c.new_positions() * c.model.query_width();
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = Flops::from_base(elements),
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::activations,
               stored(elements, DataType::bf16));
    add_access(op, near, Direction::read, TensorClass::weights, partial_weights(c));
    add_access(op, near, Direction::write, TensorClass::weights, partial_weights(c));
    graph.add(std::move(op));
  }

  double budget_ = 0;
  double partial_ = 0.3;
  std::int64_t dense_layers_ = 1;
  RowFetch fetch_;
};

}  // namespace

void register_infinigen(Registry<MethodKind>& registry) {
  registry.add("infinigen",
               {"screen by part of the keys and a query guessed a layer ahead, then fetch rows",
                []() -> std::unique_ptr<Method> { return std::make_unique<InfiniGen>(); }});
}

}  // namespace tiersim
