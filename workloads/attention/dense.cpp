#include "workloads/attention/dense.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

enum class AttendsOn : std::uint8_t { gpu, cpu };
constexpr std::array<std::string_view, 2> kAttendsOnNames{"gpu", "cpu"};

class Dense final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("kv_tier", tier_, kKvTierNames, "Where keys and values live.");
    f.optional("fetch", fetch_, "How they come from the far tier.");
    f.optional("attend_on", attends_on_, kAttendsOnNames,
               "Where a decode step attends to far rows: gpu, after a copy of them, or cpu, where "
               "they are, so that queries and outputs alone cross the links. The GPU by default.");
    f.check(!attends_on_cpu() || tier_ == KvTier::far, "attend_on",
            "needs keys and values in the host's memory", "kv_tier: far, or leave it out");
  }

  bool attends_on_cpu() const override { return attends_on_ == AttendsOn::cpu; }

  bool verifies_drafts() const override { return true; }
  bool caches_all() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return cached_rows(c, tier_of(c, tier_), KvShape(c).context);
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const bool copied = !attends_on_cpu() || c.step.kind == StepKind::prefill;
    if (tier_ == KvTier::far && copied)
      add_tensor(graph, TensorClass::staging, c.placement.near, shape.both(shape.context));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const OpId kept = add_store(graph, c, in.layer, cached(c), in.projected);
    if (attends_on_cpu())
      return {.attended = add_cpu_attention(graph, c, in.layer, kept), .fetched = {}};
    return add_whole_attention(graph, c, in.layer,
                               {.tier = tier_,
                                .by = fetch_.by,
                                .fetch_after = in.in_copy_order(in.projected),
                                .ready = kept});
  }

 private:
  KvTier tier_ = KvTier::near;
  WholeFetch fetch_;
  std::optional<AttendsOn> attends_on_ = {};  // none: the GPU
};

}  // namespace

void register_dense(Registry<MethodKind>& registry) {
  registry.add("dense", {"every row of keys and values, from the near or the far tier",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Dense>(); }});
}

}  // namespace tiersim
