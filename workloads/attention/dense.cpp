#include "workloads/attention/dense.hpp"

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class Dense final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("kv_tier", tier_, kKvTierNames, "Where keys and values live.");
    f.optional("fetch", fetch_, "How they come from the far tier.");
  }

  bool verifies_drafts() const override { return true; }
  bool caches_all() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return cached_rows(c, tier_of(c, tier_), KvShape(c).context);
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    if (tier_ == KvTier::far)
      add_tensor(graph, TensorClass::staging, c.placement.near, shape.both(shape.context));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const OpId kept = add_store(graph, c, in.layer, cached(c), in.projected);
    return add_whole_attention(graph, c, in.layer,
                               {.tier = tier_,
                                .by = fetch_.by,
                                .fetch_after = in.in_copy_order(in.projected),
                                .ready = kept});
  }

 private:
  KvTier tier_ = KvTier::near;
  WholeFetch fetch_;
};

}  // namespace

void register_dense(Registry<MethodKind>& registry) {
  registry.add("dense", {"every row of keys and values, from the near or the far tier",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Dense>(); }});
}

}  // namespace tiersim
