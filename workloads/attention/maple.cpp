#include "workloads/attention/maple.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "workloads/attention/row_fetch.hpp"

namespace tiersim {
namespace {

class Maple final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that is fetched.", fraction());
    f.required("rank_ratio", rank_ratio_, "Low-rank width over that of a key row.", fraction());
    f.required("key_type", key_type_, kDataTypeNames, "Element type of the low-rank keys.");
    f.optional("lowrank_tier", lowrank_tier_, kKvTierNames, "Where the low-rank keys live.");
    f.optional("fetch", fetch_, "How the chosen rows come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, KvTier::far, [this](const KvShape& shape) { return choice(shape); });
    const double rank = rank_ratio_ * static_cast<double>(model.key_width());
    if (rank != std::floor(rank))
      out.push_back({"rank_ratio",
                     fmt::format("gives a rank of {} at the model's key rows of {} elements", rank,
                                 model.key_width()),
                     "choose a ratio that gives a whole number"});
    return out;
  }

  bool screens() const override { return true; }
  std::int64_t near_rows() const override { return fetch_.near_rows; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    std::vector<CachedTensor> out = fetch_.cached(c, KvTier::far);
    out.push_back({TensorClass::lowrank_keys, tier_of(c, lowrank_tier_), shape.context,
                   lowrank_row(c), shape.sequences, lowrank_tier_ == KvTier::near});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    add_tensor(graph, TensorClass::weights, c.placement.near,
               projection_weights(c) * c.model.layers);
    add_row_buffers(graph, c, rows(shape));
    if (lowrank_tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near, lowrank_keys(c).payload);
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    LayerInputs stored = in;  // rows that are near are attended to once they are stored
    stored.projected = add_store(graph, c, in.layer, cached(c), in.projected);
    if (!in.guessed()) stored.screen_after = stored.projected;
    ChosenRows chosen = rows(KvShape(c));
    chosen.screen = [&](OpId after) {
      return screen(c, stored, add_projection(c, in.layer, after, graph), graph);
    };
    return add_chosen_rows(graph, c, stored, chosen);
  }

  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    add_projection(c, in.layer, in.projected, graph);
    return Method::add_prefill_layer(c, in, graph);
  }

 private:
  RowChoice choice(const KvShape& shape) const { return {.positions = shape.chosen(budget_)}; }
  ChosenRows rows(const KvShape& shape) const { return {.fetch = fetch_, .choice = choice(shape)}; }
  std::int64_t rank(const LlmConfig& model) const {
    return static_cast<std::int64_t>(rank_ratio_ * static_cast<double>(model.key_width()));
  }
  Arithmetic arithmetic() const {
    return key_type_ == DataType::int8 ? Arithmetic::int8 : Arithmetic::bf16;
  }
  Bytes lowrank_row(const AttentionContext& c) const { return stored(rank(c.model), key_type_); }
  // Low-rank keys of one layer, whole batch; those of a sequence are one run.
  Part lowrank_keys(const AttentionContext& c) const {
    const KvShape shape(c);
    const Bytes run = lowrank_row(c) * shape.context;
    return {TensorClass::lowrank_keys, run * shape.sequences, run};
  }
  // Elements of P, W_K and W_Q of one layer; W_Q has a part for every query head.
  std::int64_t projection_elements(const LlmConfig& model) const {
    const std::int64_t k = model.cached_heads() * rank(model);
    return model.hidden * k + k * k + k * model.heads * rank(model);
  }
  Bytes projection_weights(const AttentionContext& c) const {
    return stored(projection_elements(c.model), key_type_);
  }

  OpId add_projection(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const std::int64_t tokens = c.step.batch * c.new_positions();
    const Bytes input = stored(tokens * c.model.hidden, DataType::bf16);
    const Bytes weights = projection_weights(c);
    const std::int64_t kept = std::min(c.new_positions(), shape.context);
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::gemm,
          .arithmetic = arithmetic(),
          .flops = Flops::from_base(2 * projection_elements(c.model)) * tokens};
    op.accesses = {{near, Direction::read, TensorClass::weights, weights, weights},
                   {near, Direction::read, TensorClass::activations, input, input}};
    if (lowrank_tier_ == KvTier::near)  // else add_store() writes them
      op.accesses.push_back({near, Direction::write, TensorClass::lowrank_keys,
                             lowrank_row(c) * (shape.sequences * kept), lowrank_row(c) * kept});
    op.after = {after};
    return graph.add(std::move(op));
  }

  OpId screen(const AttentionContext& c, const LayerInputs& in, OpId lowrank,
              StepGraph& graph) const {
    const KvShape shape(c);
    Part read = lowrank_keys(c);
    if (lowrank_tier_ == KvTier::far) {
      lowrank = add_fetch(graph, c, in.layer,
                          {.phase = Phase::screening,
                           .by = fetch_.by,
                           .parts = {read},
                           .after = in.in_copy_order(lowrank)});
      read = {TensorClass::staging, read.payload, read.payload};
    }
    return add_screening(
        graph, c, in.layer,
        {.read = read,
         .flops = Flops::from_base(2 * rank(c.model)) * (shape.query_heads * shape.context),
         .listed = fetch_.counts(shape, choice(shape)).listed,
         .arithmetic = arithmetic(),
         .after = lowrank});
  }

  double budget_ = 0;
  double rank_ratio_ = 0;
  DataType key_type_ = DataType::int8;
  KvTier lowrank_tier_ = KvTier::near;
  RowFetch fetch_;
};

}  // namespace

void register_maple(Registry<MethodKind>& registry) {
  registry.add("maple", {"screen by low-rank keys in the near tier, then fetch the chosen rows",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Maple>(); }});
}

}  // namespace tiersim
