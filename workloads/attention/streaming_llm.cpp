#include "workloads/attention/streaming_llm.hpp"

#include <algorithm>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

class StreamingLlm final : public Method {
 public:
  void describe(Fields& f) override {
    f.optional("sinks", sinks_, "First positions that are kept.", in_range(0, 1'000'000));
    f.required("window", window_, "Newest positions that are kept.", in_range(1, 100'000'000));
  }

  bool verifies_drafts() const override { return true; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return cached_rows(c, c.placement.near, kept(KvShape(c)));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const KvShape shape(c);
    const OpId written = add_store(graph, c, in.layer, cached(c), in.projected);
    return {.attended = add_attention(graph, c, in.layer, kept(shape),
                                      contiguous_rows(shape, kept(shape)), {written}),
            .fetched = {}};
  }

 private:
  std::int64_t kept(const KvShape& shape) const {
    return std::min(shape.context, sinks_ + window_);
  }

  std::int64_t sinks_ = 4;
  std::int64_t window_ = 1;
};

}  // namespace

void register_streaming_llm(Registry<MethodKind>& registry) {
  registry.add("streaming_llm",
               {"the first and the newest rows in the near tier; the others are dropped",
                []() -> std::unique_ptr<Method> { return std::make_unique<StreamingLlm>(); }});
}

}  // namespace tiersim
