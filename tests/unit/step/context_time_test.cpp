// The time of a prefill that is cut over context ranks, against the closed form of a ring: a step
// takes the longer of its attention and its transfer.
#include <gtest/gtest.h>

#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/step/small_fabric.hpp"
#include "workloads/attention/method.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::context_time_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::small_fabric;

constexpr Bandwidth megabytes(std::int64_t count) {
  return Bandwidth::from_base(count * 1'000'000);
}

constexpr std::int64_t kRanks = 4;
constexpr std::int64_t kPrompt = 8192;

// One layer of Llama-3-8B's attention, which takes milliseconds at 1 TFLOP/s.
AttentionContext attention(const System& system, const ParallelConfig& parallel,
                           std::int64_t prompt = kPrompt) {
  return {.model = {.name = "one layer",
                    .layers = 1,
                    .hidden = 4096,
                    .heads = 32,
                    .kv_heads = 8,
                    .head_dim = 128,
                    .intermediate = 14'336,
                    .vocabulary = 1000},
          .step = {.kind = StepKind::prefill, .context = prompt, .region = Region::attention},
          .placement = {system.tier("hbm"), system.tier("hbm")},
          .parallel = parallel};
}

// Only near rows, as `dense` keeps them.
class NearRows final : public Method {
 public:
  void describe(Fields&) override {}
  bool caches_all() const override { return true; }
  std::vector<CachedTensor> cached(const AttentionContext&) const override { return {}; }
  LayerOps add_layer(const AttentionContext&, const LayerInputs&, StepGraph&) const override {
    return {};
  }
};

struct Timed {
  StepGraph graph;
  OpPlans plans;
  Execution execution;
  std::vector<Duration> blocks = {};  // of attention, each alone
  std::vector<Duration> bodies = {};  // the same without launches
  std::vector<Duration> hops = {};
  Duration merge = {};
};

Timed run(const System& system, const AttentionContext& context) {
  Timed out{
      .graph = build_step(context, NearRows(), system.tier_names()), .plans = {}, .execution = {}};
  out.plans = system.plan(out.graph);
  out.execution = execute(out.graph, system, out.plans);
  EXPECT_GE(out.execution.time, bound_of(out.graph, system, out.plans).time);
  for (std::size_t op = 0; op < out.plans.size(); ++op) {
    const Duration alone = out.plans[op].uncontended(system.channels());
    if (out.graph.ops[op].family == KernelFamily::prefill_attention) {
      out.blocks.push_back(alone);
      out.bodies.push_back(alone - out.plans[op].setup);
    } else if (out.graph.ops[op].collective.kind == CollectiveKind::send) {
      out.hops.push_back(alone);
    } else {
      out.merge += alone;
    }
  }
  return out;
}

Timed ring(Bandwidth port, const ParallelConfig& parallel) {
  SystemConfig config = small_fabric(kRanks);
  config.links["port"] = testing::port(port);
  const System system(config);
  return run(system, attention(system, parallel));
}

Duration sum(const std::vector<Duration>& times) {
  Duration out{};
  for (const Duration time : times) out += time;
  return out;
}

// Blocks of 2048 queries and 1024 keys take 34 ms, transfers of 2048 rows of 4096 B 0.8 ms at
// 10 GB/s, 42 ms at 200 MB/s and 33.6 ms, nearly as long, at 250 MB/s.
TEST(ContextRing, StepsTakeTheLongerOfAttentionAndTransfer) {
  for (const Bandwidth port : {10_GBps, megabytes(250), megabytes(200), megabytes(100)}) {
    const Timed r = ring(port, {.context = kRanks});
    ASSERT_EQ(r.blocks.size(), 4U);
    ASSERT_EQ(r.hops.size(), 3U);
    Duration expected = r.merge + r.blocks.back();
    for (std::size_t step = 0; step < r.hops.size(); ++step)
      expected += std::max(r.blocks[step], r.hops[step]);
    EXPECT_NEAR(static_cast<double>(r.execution.time.count()),
                static_cast<double>(expected.count()), 10.0);  // a rounding for each operation
  }
}

// Ports without limits: the rank computes a quarter of the pairs, in four kernels.
TEST(ContextRing, OverAnInfinitelyFastLinkTakesOneNthOfTheAttention) {
  const Timed r = ring(1'000'000_GBps, {.context = kRanks});
  const System alone(testing::small_system());
  const Timed whole = run(alone, attention(alone, {}));
  ASSERT_EQ(whole.blocks.size(), 1U);
  EXPECT_NEAR(static_cast<double>(sum(r.bodies).count()),
              static_cast<double>(whole.bodies[0].count()) / 4, 4.0);
  EXPECT_NEAR(static_cast<double>((r.execution.time - r.merge).count()),
              static_cast<double>(sum(r.blocks).count()), 10.0);
}

// T = 4 c positions: 3 c^2 + c (c + 1) / 2 pairs instead of a quarter of 4 c (4 c + 1) / 2.
TEST(ContextRing, InARowTakesAsLongAsTheLastRank) {
  const Timed zigzag = ring(10_GBps, {.context = kRanks});
  const Timed row = ring(10_GBps, {.context = kRanks, .context_order = ContextOrder::contiguous});
  const double c = kPrompt / kRanks;
  EXPECT_NEAR(to_seconds(sum(row.bodies)) / to_seconds(sum(zigzag.bodies)),
              (7 * c + 1) / (4 * c + 1), 1e-9);
}

// The gather of 8192 rows moves three quarters of 33.6 MB at 10 GB/s before one kernel.
TEST(ContextAllGather, DelaysTheAttention) {
  const Timed r =
      ring(10_GBps, {.context = kRanks, .context_exchange = ContextExchange::all_gather});
  EXPECT_EQ(r.hops.size(), 0U);
  const Duration gather = r.merge;  // the only other operation
  EXPECT_NEAR(to_seconds(gather), 0.75 * 8192 * 4096 / 10e9, 1e-6);
  EXPECT_NEAR(static_cast<double>(r.execution.time.count()),
              static_cast<double>((gather + r.blocks[0]).count()), 10.0);
}

// Each GPU of two replicas on its own: what they share, nobody uses.
TEST(ContextRing, TakesTheSameTimeWhereEachGpuIsSimulated) {
  SystemConfig config = small_fabric(2 * kRanks);
  const System once(config);
  const System each(testing::each_simulated(small_fabric(2 * kRanks)));
  for (const ContextExchange exchange :
       {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::all_to_all}) {
    const ParallelConfig p{.context = kRanks, .context_exchange = exchange};
    EXPECT_EQ(run(once, attention(once, p)).execution.time,
              run(each, attention(each, p)).execution.time);
  }
}

// A fabric of its own: transfers take its port, and not that of the tensor group.
TEST(ContextRing, TakesTheFabricOfItsPurpose) {
  SystemConfig config = small_fabric(kRanks);
  config.links["network"] = testing::port(megabytes(100));
  FabricConfig& fabric = config.fabrics["context"];
  fabric.collective = testing::fixed<Collective>(BytesOnlyConfig{});
  fabric.path = {"network"};
  const System own(config);
  const System inherits(small_fabric(kRanks));
  const AttentionContext context = attention(own, {.context = kRanks});
  EXPECT_NEAR(to_seconds(run(own, context).hops[0]), 2048 * 4096 / 100e6, 1e-6);
  EXPECT_NEAR(to_seconds(run(inherits, context).hops[0]), 2048 * 4096 / 10e9, 1e-6);
}

}  // namespace
}  // namespace tiersim::context_time_test
