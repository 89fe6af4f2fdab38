#include "workloads/attention/dense.hpp"

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class Dense final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("kv_tier", tier_, kKvTierNames, "Where keys and values live.");
    f.optional("fetch_by", fetch_by_, kRequesterNames, "Who copies them from the far tier.");
  }

  void add_tensors(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const TierId tier = tier_ == KvTier::near ? c.placement.near : c.placement.far;
    add_tensor(graph, TensorClass::keys, tier, shape.all() * c.model.layers);
    add_tensor(graph, TensorClass::values, tier, shape.all() * c.model.layers);
    if (tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near, shape.all() * 2);
  }

  OpId add_layer(const AttentionContext& c, int layer, OpId projected,
                 StepGraph& graph) const override {
    const KvShape shape(c);
    if (tier_ == KvTier::near)
      return add_attention(graph, c, layer, shape.context, TensorClass::keys,
                           append_near(c, layer, projected, graph));
    const Bytes sequence = shape.row() * shape.context;
    const OpId fetched = add_fetch(
        graph, c, layer, Phase::gather, fetch_by_,
        {{TensorClass::keys, shape.all(), sequence}, {TensorClass::values, shape.all(), sequence}},
        Bytes{}, projected);
    add_write_back(graph, c, layer,
                   {{TensorClass::keys, shape.rows(1), shape.row()},
                    {TensorClass::values, shape.rows(1), shape.row()}},
                   projected);
    return add_attention(graph, c, layer, shape.context, TensorClass::staging, fetched);
  }

 private:
  // The new token's rows, written to the cache in the near tier by a kernel of their own.
  static OpId append_near(const AttentionContext& c, int layer, OpId projected, StepGraph& graph) {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const Bytes rows = shape.rows(1);
    Op op{.phase = Phase::write_back,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = {}};
    op.accesses = {{near, Direction::read, TensorClass::activations, rows * 2, rows * 2},
                   {near, Direction::write, TensorClass::keys, rows, shape.row()},
                   {near, Direction::write, TensorClass::values, rows, shape.row()}};
    op.after = {projected};
    return graph.add(std::move(op));
  }

  KvTier tier_ = KvTier::near;
  Requester fetch_by_ = Requester::copy_engine;
};

}  // namespace

void register_dense(Registry<MethodKind>& registry) {
  registry.add("dense", {"every row of keys and values, from the near or the far tier",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Dense>(); }});
}

}  // namespace tiersim
