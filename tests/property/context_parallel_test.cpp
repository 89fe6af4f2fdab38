// Random prefills over context ranks: together the ranks do the work of one GPU, and a faster
// network never makes the step longer.
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/support/test_length.hpp"
#include "tests/unit/step/small_fabric.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::context_parallel_test {
namespace {

constexpr std::uint64_t kSeed = 20;

constexpr Bandwidth megabytes(std::int64_t count) {
  return Bandwidth::from_base(count * 1'000'000);
}

std::int64_t below(Rng& rng, std::int64_t most) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : rng_(seed, "context ranks") {}

  AttentionContext next(TierId tier) {
    const std::int64_t ranks = std::int64_t{1} << (1 + below(rng_, 4));
    const auto exchange = static_cast<ContextExchange>(rng_.below(3));
    const std::int64_t kv_heads = std::int64_t{1} << below(rng_, 4);
    LlmConfig model{.name = "random",
                    .layers = 1 + below(rng_, 2),
                    .hidden = 64,
                    .heads = 16 * kv_heads,
                    .kv_heads = kv_heads,
                    .head_dim = 16,
                    .intermediate = 128,
                    .vocabulary = 100};
    const std::int64_t sees = below(rng_, 4);
    if (sees == 0) model.attention_window = 1 + below(rng_, 200);
    if (sees == 1) model.attention_chunk = 1 + below(rng_, 200);
    ParallelConfig parallel{.context = ranks, .context_exchange = exchange};
    if (exchange != ContextExchange::all_to_all && rng_.below(2) == 0)
      parallel.context_order = ContextOrder::contiguous;
    AttentionContext out{.model = model,
                         .step = {.kind = StepKind::prefill,
                                  .batch = 1 + below(rng_, 3),
                                  .context = 2 * ranks + below(rng_, 3000)},
                         .placement = {tier, tier},
                         .parallel = parallel};
    if (exchange == ContextExchange::ring)
      out.parallel.context_ring = static_cast<ContextRing>(rng_.below(3));
    if (rng_.below(2) == 0) {
      out.step.cached = 1 + below(rng_, 3000);
      out.step.context += *out.step.cached;
    }
    return out;
  }

 private:
  Rng rng_;
};

// Full rows in the near tier.
class Rows final : public Method {
 public:
  void describe(Fields&) override {}
  bool caches_all() const override { return true; }
  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    return {{TensorClass::keys, c.placement.near, c.step.context,
             Bytes::from_base(4 * c.model.head_dim), c.step.batch * c.model.kv_heads}};
  }
  LayerOps add_layer(const AttentionContext&, const LayerInputs&, StepGraph&) const override {
    return {};
  }
};

struct Work {
  std::int64_t attention = 0;  // FLOPs
  std::int64_t products = 0;
  std::int64_t stored = 0;  // bytes of keys
  friend bool operator==(const Work&, const Work&) = default;
};
void add(Work& sum, const AttentionContext& context, const System& system) {
  const StepGraph graph = build_step(context, Rows(), system.tier_names());
  for (const Op& op : graph.ops) {
    if (op.family == KernelFamily::prefill_attention) sum.attention += op.flops.in_base();
    if (op.layer >= 0 && op.family == KernelFamily::gemm) sum.products += op.flops.in_base();
    for (const Access& a : op.accesses)
      if (a.tensor_class == TensorClass::keys && a.direction == Direction::write)
        sum.stored += a.payload.in_base();
  }
}

TEST(RandomContextRanks, TogetherDoTheWorkOfOneGpu) {
  const System system(testing::small_fabric(1));
  Draws draws(kSeed);
  for (int i = 0; i < testing::draws_of(200, 5000); ++i) {
    AttentionContext context = draws.next(system.tier("hbm"));
    AttentionContext alone = context;
    alone.parallel = {};
    Work one;
    add(one, alone, system);
    Work all;
    const std::int64_t ranks = context.parallel.context_ranks();
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      context.context_rank = rank;
      add(all, context, system);
    }
    EXPECT_EQ(all, one) << "draw " << i << " of seed " << kSeed << ": " << ranks << " ranks, "
                        << context.step.context << " positions";
  }
}

TEST(RandomContextRanks, TakeNoLongerOverAFasterNetwork) {
  using namespace literals;
  for (int i = 0; i < testing::draws_of(60, 2000); ++i) {
    Duration slower = Duration::max();
    for (const Bandwidth port : {megabytes(10), megabytes(50), 1_GBps, 100_GBps}) {
      SystemConfig config = testing::small_fabric(1);
      config.links["port"] = testing::port(port);
      const System system(config);
      const std::uint64_t seed = kSeed + 1 + static_cast<std::uint64_t>(i);
      const AttentionContext context = Draws(seed).next(system.tier("hbm"));
      const StepGraph graph = build_step(context, Rows(), system.tier_names());
      const OpPlans plans = system.plan(graph);
      const Duration time = execute(graph, system, plans).time;
      EXPECT_GE(time, bound_of(graph, system, plans).time);
      // Each operation is rounded to a picosecond, twice. A transfer that passes sooner takes
      // memory from an attention that cannot catch up, at most for as long as the memory needs for
      // it.
      Duration slack(2 * static_cast<std::int64_t>(graph.ops.size()));
      for (const Op& op : graph.ops)
        if (op.kind == OpKind::collective) slack += op.collective.size * 2 / 100_GBps;
      EXPECT_LE(time, slower) << "seed " << seed;
      slower = time + slack;
    }
  }
}

}  // namespace
}  // namespace tiersim::context_parallel_test
