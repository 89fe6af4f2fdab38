#include "workloads/attention/sparq.hpp"

#include <fmt/format.h>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

constexpr Bytes kSector = Bytes::from_base(32);  // what a GPU loads at least

class Sparq final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that is fetched.", fraction());
    f.required("rank", rank_, "Key columns fetched for screening, r of a key row's.",
               in_range(1, 4096));
    f.optional("key_copies", key_copies_, "2: a transposed copy to screen from; 1: none.",
               in_range(1, 2));
    f.optional("fetch_by", fetch_by_, kRequesterNames, "Who fetches columns and rows.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model) const override {
    if (rank_ <= model.key_width()) return {};
    return {{"rank",
             fmt::format("{} exceeds the {} elements of the model's key rows", rank_,
                         model.key_width()),
             ""}};
  }

  bool screens() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    std::vector<CachedTensor> out = cached_rows(c, c.placement.far, shape.context);
    // Transposed: a new position is one element of each column.
    if (key_copies_ == 2)
      out.push_back({TensorClass::key_copy, c.placement.far, shape.context, stored(1, shape.type),
                     shape.sequences * shape.key_width});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const std::int64_t chosen = shape.chosen(budget_);
    add_tensor(graph, TensorClass::staging, near, columns(shape) + shape.both(chosen));
    add_tensor(graph, TensorClass::indices, near, shape.indices(chosen));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const KvShape shape(c);
    const std::int64_t chosen = shape.chosen(budget_);
    const TensorClass from = key_copies_ == 2 ? TensorClass::key_copy : TensorClass::keys;
    add_store(graph, c, in.layer, cached(c), in.projected);
    const OpId fetched = add_fetch(graph, c, in.layer,
                                   {.phase = Phase::screening,
                                    .by = fetch_by_,
                                    .parts = {{from, columns(shape), column_run(shape)}},
                                    .after = {in.screen_after}});
    const OpId scored = add_scores(c, in.layer, fetched, graph);
    const OpId gathered = add_fetch(graph, c, in.layer,
                                    {.by = fetch_by_,
                                     .parts = scattered_rows(shape, chosen),
                                     .indices = shape.indices(chosen),
                                     .after = {scored}});
    return {.attended = add_attention(graph, c, in.layer, chosen, staged_rows(shape, chosen),
                                      {gathered, in.projected}),
            .fetched = gathered};
  }

 private:
  // Bytes of each row that one copy must load: a sector for each column until all are touched, and
  // the whole row once that is half of it.
  Bytes row_part(const KvShape& shape) const {
    const Bytes sectors = kSector * rank_;
    return sectors * 2 < shape.key_row() ? sectors : shape.key_row();
  }
  Bytes columns(const KvShape& shape) const {
    if (key_copies_ == 2) return stored(shape.context, shape.type) * (shape.sequences * rank_);
    return row_part(shape) * (shape.sequences * shape.context);
  }
  Bytes column_run(const KvShape& shape) const {
    if (key_copies_ == 2) return stored(shape.context, shape.type);
    return row_part(shape) == shape.key_row() ? shape.key_row() : kSector;
  }

  OpId add_scores(const AttentionContext& c, int layer, OpId fetched, StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const Bytes indices = shape.indices(shape.chosen(budget_));
    const Bytes fetched_bytes = columns(shape);
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::screening,
          .flops = Flops::from_base(2 * rank_) * (shape.query_heads * shape.context)};
    op.accesses = {{near, Direction::read, TensorClass::staging, fetched_bytes, fetched_bytes},
                   {near, Direction::write, TensorClass::indices, indices, indices}};
    op.after = {fetched};
    return graph.add(std::move(op));
  }

  double budget_ = 0;
  std::int64_t rank_ = 0;
  std::int64_t key_copies_ = 2;
  Requester fetch_by_ = Requester::sm;
};

}  // namespace

void register_sparq(Registry<MethodKind>& registry) {
  registry.add("sparq", {"screen by r key columns in the far tier, then fetch the chosen rows",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Sparq>(); }});
}

}  // namespace tiersim
