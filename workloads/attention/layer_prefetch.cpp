#include "workloads/attention/layer_prefetch.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class LayerPrefetch final : public Method {
 public:
  void describe(Fields& f) override {
    f.optional("buffers", buffers_, "Layers whose rows fit into staging at the same time.",
               in_range(2, 1000));
    f.optional("fetch", fetch_, "How the rows come from the far tier.");
  }

  bool verifies_drafts() const override { return true; }
  bool caches_all() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return cached_rows(c, c.placement.far, KvShape(c).context);
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    add_tensor(graph, TensorClass::staging, c.placement.near,
               shape.both(shape.context) * std::min(buffers_, c.model.layers));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    add_store(graph, c, in.layer, cached(c), in.projected);
    OpIds after;
    if (!in.before.empty()) after.push_back(in.before.back().fetched);
    if (in.copy_after.valid()) after.push_back(in.copy_after);
    if (in.layer >= buffers_)
      after.push_back(in.before[static_cast<std::size_t>(in.layer - buffers_)].attended);
    return add_whole_attention(
        graph, c, in.layer,
        {.by = fetch_.by, .fetch_after = std::move(after), .ready = in.projected});
  }

 private:
  std::int64_t buffers_ = 2;
  WholeFetch fetch_;
};

}  // namespace

void register_layer_prefetch(Registry<MethodKind>& registry) {
  registry.add("layer_prefetch",
               {"every row from the far tier, copied while earlier layers compute",
                []() -> std::unique_ptr<Method> { return std::make_unique<LayerPrefetch>(); }});
}

}  // namespace tiersim
