#include "workloads/attention/tiered.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class Tiered final : public Method {
 public:
  void describe(Fields& f) override {
    f.optional("near_share", near_share_, "Share of every sequence's rows that is near.",
               in_range(0.0, 1.0));
    f.optional("near_positions", near_positions_, "Or so many of its newest rows.",
               in_range(0, 100'000'000));
    f.optional("buffers", buffers_, "Layers whose far rows fit into staging at the same time.",
               in_range(1, 1000));
    f.optional("fetch", fetch_, "How the far rows come near.");
    f.check(
        near_share_.has_value() != near_positions_.has_value(), "near_share",
        near_share_ ? "cannot stand beside near_positions" : "is missing, and so is near_positions",
        "give one of the two");
  }

  bool verifies_drafts() const override { return true; }
  bool caches_all() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const Split rows = split(KvShape(c));
    std::vector<CachedTensor> out;
    const auto add = [&](TierId tier, std::int64_t positions) {
      if (positions == 0) return;
      for (const CachedTensor& tensor : cached_rows(c, tier, positions)) out.push_back(tensor);
    };
    add(c.placement.near, rows.near);
    add(c.placement.far, rows.far);
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const Split rows = split(shape);
    const TierId near = c.placement.near;
    add_tensor(graph, TensorClass::staging, near,
               shape.both(rows.far) * std::min(buffers_, c.model.layers));
    if (rows.parts() == 2)
      add_tensor(graph, TensorClass::workspace, near, (shape.outputs() + sums(shape)) * 2);
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const KvShape shape(c);
    const Split rows = split(shape);
    const OpId kept = add_store(graph, c, in.layer, cached(c), in.projected);
    if (rows.far == 0)
      return {.attended = attend_near(c, in.layer, rows.near, {kept}, graph), .fetched = {}};
    const OpId fetched = add_fetch(
        graph, c, in.layer,
        {.by = fetch_.by, .parts = contiguous_rows(shape, rows.far), .after = copy_order(in)});
    if (rows.near == 0)
      return {.attended = attend_far(c, in.layer, rows.far, {fetched, kept}, graph),
              .fetched = fetched};
    const OpId near = attend_near(c, in.layer, rows.near, {kept}, graph);
    const OpId far = attend_far(c, in.layer, rows.far, {fetched, near}, graph);
    for (const OpId part : {near, far})
      add_access(graph.ops[part.index()], c.placement.near, Direction::write,
                 TensorClass::workspace, sums(shape));
    return {.attended = merge(c, in.layer, far, graph), .fetched = fetched};
  }

 private:
  struct Split {
    std::int64_t near = 0;  // positions
    std::int64_t far = 0;
    int parts() const { return (near > 0 ? 1 : 0) + (far > 0 ? 1 : 0); }
  };
  Split split(const KvShape& shape) const {
    const std::int64_t wanted =
        near_share_ ? shape.chosen(*near_share_) : near_positions_.value_or(0);
    const std::int64_t near = std::min(wanted, shape.context);
    return {near, shape.context - near};
  }

  // The logarithms of the sums of exponentials of all query heads, in fp32.
  static Bytes sums(const KvShape& shape) {
    constexpr std::int64_t kFloat = 4;
    return Bytes::from_base(kFloat) * shape.query_heads;
  }

  // Predecessors of a layer's copy: the previous copy, and the attention that frees its buffer.
  OpIds copy_order(const LayerInputs& in) const {
    OpIds after;
    if (!in.before.empty()) after.push_back(in.before.back().fetched);
    if (in.copy_after.valid()) after.push_back(in.copy_after);
    if (in.layer >= buffers_)
      after.push_back(in.before[static_cast<std::size_t>(in.layer - buffers_)].attended);
    return after;
  }

  static OpId attend_near(const AttentionContext& c, int layer, std::int64_t positions, OpIds after,
                          StepGraph& graph) {
    return add_attention(graph, c, layer, positions, contiguous_rows(KvShape(c), positions),
                         std::move(after));
  }
  static OpId attend_far(const AttentionContext& c, int layer, std::int64_t positions, OpIds after,
                         StepGraph& graph) {
    return add_attention(graph, c, layer, positions, staged_rows(KvShape(c), positions),
                         std::move(after));
  }

  static OpId merge(const AttentionContext& c, int layer, OpId after, StepGraph& graph) {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    constexpr std::int64_t kScaleScaleAdd = 3;
    Op op{.phase = Phase::attention,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = Flops::from_base(kScaleScaleAdd * shape.mix_width) * shape.query_heads};
    add_access(op, near, Direction::read, TensorClass::activations, shape.outputs() * 2);
    add_access(op, near, Direction::read, TensorClass::workspace, sums(shape) * 2);
    add_access(op, near, Direction::write, TensorClass::activations, shape.outputs());
    op.after = {after};
    return graph.add(std::move(op));
  }

  std::optional<double> near_share_ = {};
  std::optional<std::int64_t> near_positions_ = {};
  std::int64_t buffers_ = 2;
  WholeFetch fetch_;
};

}  // namespace

void register_tiered(Registry<MethodKind>& registry) {
  registry.add("tiered", {"every row, the newest from the near and the older from the far tier",
                          []() -> std::unique_ptr<Method> { return std::make_unique<Tiered>(); }});
}

}  // namespace tiersim
