#include "workloads/attention/maple.hpp"

#include <cmath>

#include <fmt/format.h>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class Maple final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that is fetched.", fraction());
    f.required("rank_ratio", rank_ratio_, "Low-rank width over head_dim.", fraction());
    f.required("key_type", key_type_, kDataTypeNames, "Element type of the low-rank keys.");
    f.optional("fetch_by", fetch_by_, kRequesterNames, "Who fetches the chosen rows.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model) const override {
    const double rank = rank_ratio_ * static_cast<double>(model.head_dim);
    if (rank == std::floor(rank)) return {};
    return {{"rank_ratio",
             fmt::format("gives a rank of {} at the model's head_dim {}", rank, model.head_dim),
             "choose a ratio that gives a whole number"}};
  }

  void add_tensors(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const auto [near, far] = c.placement;
    const std::int64_t chosen = shape.chosen(budget_);
    add_tensor(graph, TensorClass::keys, far, shape.all() * c.model.layers);
    add_tensor(graph, TensorClass::values, far, shape.all() * c.model.layers);
    add_tensor(graph, TensorClass::lowrank_keys, near, lowrank_keys(c) * c.model.layers);
    add_tensor(graph, TensorClass::weights, near, projection_weights(c) * c.model.layers);
    add_tensor(graph, TensorClass::staging, near, shape.rows(chosen) * 2);
    add_tensor(graph, TensorClass::indices, near, shape.indices(chosen));
  }

  OpId add_layer(const AttentionContext& c, int layer, OpId projected,
                 StepGraph& graph) const override {
    const KvShape shape(c);
    const std::int64_t chosen = shape.chosen(budget_);
    const OpId lowrank = add_projection(c, layer, projected, graph);
    const OpId screened = add_screening(c, layer, lowrank, graph);
    const OpId gathered = add_fetch(graph, c, layer, Phase::gather, fetch_by_,
                                    {{TensorClass::keys, shape.rows(chosen), shape.row()},
                                     {TensorClass::values, shape.rows(chosen), shape.row()}},
                                    shape.indices(chosen), screened);
    add_write_back(graph, c, layer,
                   {{TensorClass::keys, shape.rows(1), shape.row()},
                    {TensorClass::values, shape.rows(1), shape.row()}},
                   projected);
    return add_attention(graph, c, layer, chosen, TensorClass::staging, gathered);
  }

 private:
  std::int64_t rank(const LlmConfig& model) const {
    return static_cast<std::int64_t>(rank_ratio_ * static_cast<double>(model.head_dim));
  }
  Arithmetic arithmetic() const {
    return key_type_ == DataType::int8 ? Arithmetic::int8 : Arithmetic::bf16;
  }
  Bytes lowrank_row(const AttentionContext& c) const { return stored(rank(c.model), key_type_); }
  // One layer, whole batch.
  Bytes lowrank_keys(const AttentionContext& c) const {
    const KvShape shape(c);
    return lowrank_row(c) * (shape.sequences * shape.context);
  }
  // P, W_Q and W_K of one layer, in key_type.
  Bytes projection_weights(const AttentionContext& c) const {
    const std::int64_t k = c.model.kv_heads * rank(c.model);
    return stored(c.model.hidden * k + 2 * k * k, key_type_);
  }

  OpId add_projection(const AttentionContext& c, int layer, OpId projected,
                      StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const std::int64_t k = c.model.kv_heads * rank(c.model);
    const Bytes input = stored(c.step.batch * c.model.hidden, DataType::bf16);
    const Bytes weights = projection_weights(c);
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::gemm,
          .arithmetic = arithmetic(),
          .flops = Flops::from_base(2 * (c.model.hidden * k + 2 * k * k)) * c.step.batch};
    op.accesses = {{near, Direction::read, TensorClass::weights, weights, weights},
                   {near, Direction::read, TensorClass::activations, input, input},
                   {near, Direction::write, TensorClass::lowrank_keys,
                    lowrank_row(c) * shape.sequences, lowrank_row(c)}};
    op.after = {projected};
    return graph.add(std::move(op));
  }

  OpId add_screening(const AttentionContext& c, int layer, OpId lowrank, StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const Bytes indices = shape.indices(shape.chosen(budget_));
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::screening,
          .arithmetic = arithmetic(),
          .flops = Flops::from_base(2 * rank(c.model)) * (shape.query_heads * shape.context)};
    op.accesses = {{near, Direction::read, TensorClass::lowrank_keys, lowrank_keys(c),
                    lowrank_row(c) * shape.context},
                   {near, Direction::write, TensorClass::indices, indices, indices}};
    op.after = {lowrank};
    return graph.add(std::move(op));
  }

  double budget_ = 0;
  double rank_ratio_ = 0;
  DataType key_type_ = DataType::int8;
  Requester fetch_by_ = Requester::sm;
};

}  // namespace

void register_maple(Registry<MethodKind>& registry) {
  registry.add("maple", {"screen by low-rank keys in the near tier, then fetch the chosen rows",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Maple>(); }});
}

}  // namespace tiersim
