#include "workloads/attention/h2o.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

constexpr Bytes kScore = Bytes::from_base(4);  // fp32

class H2o final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("heavy", heavy_, "Share of the rows kept for the attention they had.", fraction());
    f.required("recent", recent_, "Share of the rows kept because they are new.", fraction());
  }

  std::vector<MethodProblem> problems(const LlmConfig&, const StepConfig&) const override {
    if (heavy_ + recent_ <= 1.0) return {};
    return {{"heavy", fmt::format("{} and recent {} are more than all rows", heavy_, recent_),
             "lower one of them; method dense keeps all"}};
  }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    std::vector<CachedTensor> out = cached_rows(c, c.placement.near, kept(shape));
    out.push_back(
        {TensorClass::scores, c.placement.near, kept(shape), kScore, shape.sequences, true});
    return out;
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const KvShape shape(c);
    const OpId written = add_store(graph, c, in.layer, cached(c), in.projected);
    const OpId attended = add_attention(graph, c, in.layer, kept(shape),
                                        contiguous_rows(shape, kept(shape)), {written});
    Op& op = graph.ops[attended.index()];
    add_access(op, c.placement.near, Direction::read, TensorClass::scores, scores(shape));
    add_access(op, c.placement.near, Direction::write, TensorClass::scores, scores(shape));
    return {.attended = attended, .fetched = {}};
  }

  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    const LayerOps done = Method::add_prefill_layer(c, in, graph);
    add_access(graph.ops[done.attended.index()], c.placement.near, Direction::write,
               TensorClass::scores, scores(KvShape(c)));
    return done;
  }

 private:
  std::int64_t kept(const KvShape& shape) const {
    return std::min(shape.context, shape.chosen(heavy_) + shape.chosen(recent_));
  }
  Bytes scores(const KvShape& shape) const { return kScore * (shape.sequences * kept(shape)); }

  double heavy_ = 0;
  double recent_ = 0;
};

}  // namespace

void register_h2o(Registry<MethodKind>& registry) {
  registry.add("h2o", {"the newest and the most attended rows in the near tier; others are dropped",
                       []() -> std::unique_ptr<Method> { return std::make_unique<H2o>(); }});
}

}  // namespace tiersim
