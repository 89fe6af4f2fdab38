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

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return cached_rows(c, tier(c), KvShape(c).context);
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    if (tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near, shape.both(shape.context));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const KvShape shape(c);
    const OpId kept = add_store(graph, c, in.layer, cached(c), in.projected);
    if (tier_ == KvTier::near)
      return {.attended = add_attention(graph, c, in.layer, shape.context,
                                        contiguous_rows(shape, shape.context), {kept}),
              .fetched = {}};
    const OpId fetched = add_fetch(
        graph, c, in.layer,
        {.by = fetch_by_, .parts = contiguous_rows(shape, shape.context), .after = {in.projected}});
    return {.attended = add_attention(graph, c, in.layer, shape.context,
                                      staged_rows(shape, shape.context), {fetched}),
            .fetched = fetched};
  }

 private:
  TierId tier(const AttentionContext& c) const {
    return tier_ == KvTier::near ? c.placement.near : c.placement.far;
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
