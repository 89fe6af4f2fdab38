// Weights and attention in the host: what a step copies, where it attends, and how long both take.
#include <gtest/gtest.h>

#include "hwmodels/compute/host_cpu.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/step/small_system.hpp"
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim::host_offload_test {
namespace {

using namespace literals;
using testing::build;
using testing::kFar;
using testing::kNear;
using testing::small_step;

constexpr const char* kNearRows = "{name: dense, kv_tier: near}";
constexpr const char* kOnCpu = "{name: dense, kv_tier: far, attend_on: cpu}";

AttentionContext with_far(double share, WeightRead read) {
  AttentionContext c = small_step();
  c.placement.weights = {share, read};
  return c;
}

std::map<std::string, std::int64_t> weights_held(const StepGraph& graph) {
  std::map<std::string, std::int64_t> out;
  for (const Tensor& t : graph.tensors)
    if (t.tensor_class == TensorClass::weights) out[testing::tier_name(t.tier)] += t.size.in_base();
  return out;
}

std::int64_t weights_read(const StepGraph& graph, TierId tier, OpKind kind) {
  std::int64_t sum = 0;
  for (const Op& op : graph.ops)
    for (const Access& a : op.accesses)
      if (op.kind == kind && a.tier == tier && a.direction == Direction::read &&
          a.tensor_class == TensorClass::weights)
        sum += a.payload.in_base();
  return sum;
}

std::vector<std::size_t> copies_of(const StepGraph& graph) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].phase == Phase::weight_copy) out.push_back(i);
  return out;
}

bool waits(const Op& op, std::size_t before) {
  return std::ranges::find(op.after, OpId(before)) != op.after.end();
}

// A layer of the small model has q and o of 32 x 32, keys and values of 32 x 16, an MLP of three
// 32 x 64, and two norms of 32: 9280 weights of fp16.
constexpr std::int64_t kLayer = 2 * (2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64 + 2 * 32);

TEST(FarWeights, AreTakenFromTheNearTier) {
  const std::int64_t all = weights_held(build(kNearRows)).at("near");
  for (const WeightRead read : {WeightRead::copied, WeightRead::prefetched, WeightRead::direct}) {
    const StepGraph graph = build(kNearRows, with_far(0.5, read));
    EXPECT_EQ(weights_held(graph).at("far"), 4 * kLayer / 2);
    EXPECT_EQ(weights_held(graph).at("near"), all - 4 * kLayer / 2);
  }
}

TEST(FarWeights, ACopyBringsALayerBeforeItBegins) {
  const StepGraph graph = build(kNearRows, with_far(0.5, WeightRead::copied));
  const std::vector<std::size_t> copies = copies_of(graph);
  ASSERT_EQ(copies.size(), 4U);
  EXPECT_EQ(weights_read(graph, kFar, OpKind::transfer), 4 * kLayer / 2);
  EXPECT_EQ(weights_read(graph, kFar, OpKind::compute), 0);
  for (const std::size_t copy : copies) {
    EXPECT_TRUE(waits(graph.ops[copy], copy - 1));  // the end of the layer before
    EXPECT_TRUE(waits(graph.ops[copy + 1], copy));
  }
  // The matrix products read the same bytes as without far weights.
  EXPECT_EQ(weights_read(graph, kNear, OpKind::compute),
            weights_read(build(kNearRows), kNear, OpKind::compute));
}

TEST(FarWeights, APrefetchTakesTheRoomOfTheLayerBeforeTheLast) {
  const StepGraph graph = build(kNearRows, with_far(1, WeightRead::prefetched));
  const std::vector<std::size_t> copies = copies_of(graph);
  ASSERT_EQ(copies.size(), 4U);
  EXPECT_TRUE(graph.ops[copies[0]].after.empty());
  EXPECT_TRUE(waits(graph.ops[copies[1]], copies[0]));
  EXPECT_TRUE(waits(graph.ops[copies[2]], copies[1]));
  EXPECT_TRUE(waits(graph.ops[copies[2]], copies[1] - 1));  // the last operation of layer 0
  EXPECT_FALSE(waits(graph.ops[copies[2]], copies[2] - 1));
  std::int64_t room = 0;
  for (const Tensor& t : graph.tensors)
    if (t.tensor_class == TensorClass::workspace) room += t.size.in_base();
  for (const Tensor& t : build(kNearRows).tensors)
    if (t.tensor_class == TensorClass::workspace) room -= t.size.in_base();
  EXPECT_EQ(room, 2 * kLayer);
}

// A third of the far weights near, as it were, and the rest in the far tier: each tier's copy waits
// for both of the layer before, and the layer for both of its own.
TEST(FarWeights, MayLieInSeveralTiers) {
  const auto in_two = [](WeightRead read) {
    AttentionContext c = with_far(0.5, read);
    c.placement.weight_tiers = {{kNear, 1.0 / 3}, {kFar, 2.0 / 3}};
    return c;
  };
  const StepGraph graph = build(kNearRows, in_two(WeightRead::prefetched));
  const std::int64_t third = kLayer / 6;
  EXPECT_EQ(weights_read(graph, kNear, OpKind::transfer), 4 * third);
  EXPECT_EQ(weights_read(graph, kFar, OpKind::transfer), 4 * (kLayer / 2 - third));
  EXPECT_EQ(weights_held(graph).at("far"),
            weights_held(build(kNearRows)).at("near") - weights_held(graph).at("near"));
  const std::vector<std::size_t> copies = copies_of(graph);
  ASSERT_EQ(copies.size(), 8U);
  for (const std::size_t copy : {copies[2], copies[3]})
    EXPECT_TRUE(waits(graph.ops[copy], copies[0]) && waits(graph.ops[copy], copies[1])) << copy;
  for (const std::size_t copy : {copies[0], copies[1]})
    EXPECT_TRUE(std::ranges::any_of(graph.ops, [&](const Op& op) {
      return op.kind == OpKind::compute && waits(op, copy);
    })) << copy;
  const StepGraph direct = build(kNearRows, in_two(WeightRead::direct));
  EXPECT_EQ(
      weights_read(direct, kFar, OpKind::compute) + weights_read(direct, kNear, OpKind::compute),
      weights_read(build(kNearRows), kNear, OpKind::compute));
}

// Micro-batches of a pipeline copy all weights anew, one after another: two layers of room.
TEST(FarWeights, TheNextMicroBatchCopiesAfterTheOneBefore) {
  AttentionContext c = with_far(1, WeightRead::prefetched);
  c.parallel.pipeline = 2;
  const StepGraph graph = build(kNearRows, c);
  const std::vector<std::size_t> copies = copies_of(graph);
  ASSERT_EQ(copies.size(), 4U);  // two layers of a stage, for each of two micro-batches
  for (std::size_t i = 1; i < copies.size(); ++i)
    EXPECT_TRUE(waits(graph.ops[copies[i]], copies[i - 1])) << i;
  EXPECT_FALSE(graph.ops[copies[2]].after.size() < 2);  // and for its room
}

// Kernels read norms with the products before or after them, so that only matrices count.
TEST(FarWeights, KernelsReadTheirShareWhereItIs) {
  const StepGraph graph = build(kNearRows, with_far(0.25, WeightRead::direct));
  EXPECT_TRUE(copies_of(graph).empty());
  EXPECT_EQ(weights_read(graph, kFar, OpKind::compute), (kLayer - 2 * 2 * 32) * 4 / 4);
  EXPECT_EQ(
      weights_read(graph, kFar, OpKind::compute) + weights_read(graph, kNear, OpKind::compute),
      weights_read(build(kNearRows), kNear, OpKind::compute));
}

SystemConfig with_cpu(Bandwidth rate) {
  SystemConfig c = testing::small_system();
  HostCpuConfig cpu;
  cpu.attention.value = rate;
  c.cpu = testing::fixed<Requester>(cpu);
  return c;
}

StepGraph on(const System& system, const std::string& method, AttentionContext c) {
  c.placement.near = system.tier("hbm");
  c.placement.far = system.tier("pool");
  return build_step(c, *testing::method(method), system.tier_names());
}

Duration time_of(const StepGraph& graph, const System& system) {
  return execute(graph, system, system.plan(graph)).time;
}

Duration sum_of(const StepGraph& graph, const System& system, Phase phase) {
  Duration sum{};
  const OpPlans plans = system.plan(graph);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].phase == phase) sum += plans[i].uncontended(system.channels());
  return sum;
}

// Copies before a layer add to the step. Prefetched copies hide behind the layers, or the layers
// behind them, so that the step never takes longer.
TEST(FarWeights, TakeTheirCopiesOrTheLongerOfCopiesAndWork) {
  const System system(testing::small_system());
  const Duration near = time_of(on(system, kNearRows, small_step()), system);
  for (const double share : {0.1, 0.5, 1.0}) {
    const StepGraph copied = on(system, kNearRows, with_far(share, WeightRead::copied));
    const Duration copies = sum_of(copied, system, Phase::weight_copy);
    const Duration serial = time_of(copied, system);
    EXPECT_NEAR(static_cast<double>(serial.count()), static_cast<double>((near + copies).count()),
                100);
    const Duration ahead =
        time_of(on(system, kNearRows, with_far(share, WeightRead::prefetched)), system);
    EXPECT_LE(ahead, serial);
    EXPECT_GE(ahead, std::max(near, copies));
  }
}

TEST(CpuAttention, RowsStayAndQueriesAndOutputsCross) {
  const StepGraph graph = build(kOnCpu);
  // Layer 0: 4096 B of keys and of values; 2 sequences of 4 heads of 8 elements in bf16.
  std::map<std::string, std::int64_t> moved;
  for (const Op& op : graph.ops) {
    if (op.layer != 0 || op.phase != Phase::attention) continue;
    EXPECT_EQ(op.kind, OpKind::transfer);
    EXPECT_EQ(op.flops, Flops{});
    for (const Access& a : op.accesses)
      moved[std::string(name(op.requester)) + ' ' + testing::tier_name(a.tier) + ' ' +
            std::string(name(a.direction)) + ' ' + std::string(name(a.tensor_class))] +=
          a.payload.in_base();
  }
  EXPECT_EQ(moved,
            (std::map<std::string, std::int64_t>{{"copy_engine near read activations", 128},
                                                 {"copy_engine far write activations", 128},
                                                 {"cpu far read keys", 4096},
                                                 {"cpu far read values", 4096},
                                                 {"copy_engine far read activations", 128},
                                                 {"copy_engine near write activations", 128}}));
}

// The CPU takes 8192 B a layer at its own rate or the memory's 50 GB/s, and after the memory's
// latency of 100 ns, but not that of the link.
TEST(CpuAttention, IsAsFastAsTheSlowerOfCpuAndMemory) {
  for (const auto& [rate, ps] :
       {std::pair{Bandwidth::from_base(8'192'000'000), 1'000'000}, {500_GBps, 163'840}}) {
    const System system(with_cpu(rate));
    const StepGraph graph = on(system, kOnCpu, small_step());
    const OpPlans plans = system.plan(graph);
    int attended = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (graph.ops[i].requester != RequesterKind::cpu) continue;
      ++attended;
      EXPECT_EQ(plans[i].uncontended(system.channels()).count(), 100'000 + ps);
      for (const DeviceTraffic& part : plans[i].traffic)
        EXPECT_EQ(system.device_names()[part.device.index()], "pool");
    }
    EXPECT_EQ(attended, 4);
  }
}

// GPUs of a host share its CPUs.
TEST(CpuAttention, GpusOfAHostShareItsCpus) {
  SystemConfig config = with_cpu(8_GBps);
  config.gpus = {.count = 4, .hosts = 2};
  const System system(config);
  const auto cpu = std::ranges::find(system.channels(), "cpu.attention", &SystemChannel::name);
  ASSERT_NE(cpu, system.channels().end());
  EXPECT_EQ(cpu->sharers, 2);
}

}  // namespace
}  // namespace tiersim::host_offload_test
