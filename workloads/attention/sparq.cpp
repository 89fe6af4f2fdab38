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
    f.required("rank", rank_, "Key columns fetched for screening, r of head_dim.",
               in_range(1, 4096));
    f.optional("key_copies", key_copies_, "2: a transposed copy to screen from; 1: none.",
               in_range(1, 2));
    f.optional("fetch_by", fetch_by_, kRequesterNames, "Who fetches columns and rows.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model) const override {
    if (rank_ <= model.head_dim) return {};
    return {{"rank", fmt::format("{} exceeds the model's head_dim {}", rank_, model.head_dim), ""}};
  }

  void add_tensors(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const auto [near, far] = c.placement;
    add_tensor(graph, TensorClass::keys, far, shape.all() * c.model.layers);
    add_tensor(graph, TensorClass::values, far, shape.all() * c.model.layers);
    if (key_copies_ == 2)
      add_tensor(graph, TensorClass::key_copy, far, shape.all() * c.model.layers);
    const std::int64_t chosen = shape.chosen(budget_);
    add_tensor(graph, TensorClass::staging, near, columns(shape) + shape.rows(chosen) * 2);
    add_tensor(graph, TensorClass::indices, near, shape.indices(chosen));
  }

  OpId add_layer(const AttentionContext& c, int layer, OpId projected,
                 StepGraph& graph) const override {
    const KvShape shape(c);
    const std::int64_t chosen = shape.chosen(budget_);
    const bool two = key_copies_ == 2;

    const OpId fetched = add_fetch(
        graph, c, layer, Phase::screening, fetch_by_,
        {{two ? TensorClass::key_copy : TensorClass::keys, columns(shape), column_run(shape)}},
        Bytes{}, projected);
    const OpId scored = add_scores(c, layer, fetched, graph);
    const OpId gathered = add_fetch(graph, c, layer, Phase::gather, fetch_by_,
                                    {{TensorClass::keys, shape.rows(chosen), shape.row()},
                                     {TensorClass::values, shape.rows(chosen), shape.row()}},
                                    shape.indices(chosen), scored);
    std::vector<FarPart> written{{TensorClass::keys, shape.rows(1), shape.row()},
                                 {TensorClass::values, shape.rows(1), shape.row()}};
    // The new token is one element of each transposed column.
    if (two) written.push_back({TensorClass::key_copy, shape.rows(1), stored(1, shape.type)});
    add_write_back(graph, c, layer, written, projected);
    return add_attention(graph, c, layer, chosen, TensorClass::staging, gathered);
  }

 private:
  // Bytes of each row that one copy must load: a sector for each column until all are touched, and
  // the whole row once that is half of it.
  Bytes row_part(const KvShape& shape) const {
    const Bytes sectors = kSector * rank_;
    return sectors * 2 < shape.row() ? sectors : shape.row();
  }
  Bytes columns(const KvShape& shape) const {
    if (key_copies_ == 2) return stored(shape.context, shape.type) * (shape.sequences * rank_);
    return row_part(shape) * (shape.sequences * shape.context);
  }
  Bytes column_run(const KvShape& shape) const {
    if (key_copies_ == 2) return stored(shape.context, shape.type);
    return row_part(shape) == shape.row() ? shape.row() : kSector;
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
